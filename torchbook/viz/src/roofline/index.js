/** Roofline: an op's bytes and FLOPs against the ceilings of devices, with every formula and its numbers. */

import { numberField, table } from "../core/form.js";
import { copyButton, h, replace, select, shell } from "../core/index.js";
import { SHEET } from "../core/sheet.js";
import { prefixed, significant } from "../core/units.js";
import { advice, CONTRACT, costOf, defaultSizes, DEVICES, devicesOf, DTYPES, isMachine, isSetting, MACHINE, OPS, peakOf, presetOf, problem, results, settingOf, sizeAt, sizedAs, slideOf } from "./model.js";
import { plot } from "./picture.js";
import { CSS } from "./style.js";
import { describe, place, rows, script } from "./words.js";

const PARTS = ["op", "sizes", "dtype", "fused", "device", "machine"];

function render({ model, el }) {
  const ui = shell({ model, el, contract: CONTRACT, kind: "roofline" });
  ui.css(SHEET);
  ui.css(CSS);
  const setting = () => Object.fromEntries(PARTS.map((name) => [name, model.get(name)]));
  const points = () => model.get("points") ?? [];
  const start = (given) => {
    ui.set(given);
    refresh(true);
  };
  /** A preset, in the dtype at hand where the device has no figure for that of the preset. */
  const choose = (name) => {
    const given = settingOf(name);
    const device = devicesOf(setting())[model.get("device")];
    start(device && peakOf(device, given.op, given.dtype) === null ? { ...given, dtype: model.get("dtype") } : given);
  };
  const mine = () => {
    const { op, sizes, dtype, fused, device } = setting();
    return { op, sizes, dtype, fused, device };
  };
  const link = ui.link({
    choose,
    start,
    accepts: (value) => isSetting(value, model.get("machine")),
    get: () => (model.get("device") === "h100" && presetOf(setting())) || mine(),
  });
  const chips = ui.chips(choose);
  const which = select({
    label: "op",
    options: Object.entries(OPS).map(([value, { label }]) => ({ value, label })),
    value: "matmul",
    onchange: (op) => start({ op, sizes: defaultSizes(op) }),
  });
  which.classList.add("sc-wide");
  const dtype = select({ label: "dtype", options: Object.entries(DTYPES).map(([value, { label }]) => ({ value, label })), value: "bf16", onchange: (value) => ui.set({ dtype: value }) });
  const fused = select({
    label: "kernels",
    options: [
      { value: "true", label: "one, fused" },
      { value: "false", label: "one for each step" },
    ],
    value: "true",
    onchange: (value) => ui.set({ fused: value === "true" }),
  });
  const FEW = ["extra", "kernel", "stride", "ops"]; // sizes that are counted one by one; others double
  /** The value after this one, within the field's range. */
  const next = (name, value, way, far) => {
    const { low, high } = OPS[model.get("op")].fields[name];
    return Math.min(high, Math.max(low, far || FEW.includes(name) ? value + way : way > 0 ? value * 2 || 1 : Math.floor(value / 2)));
  };
  const resize = (name, value) => ui.set({ sizes: { ...model.get("sizes"), [name]: value } });
  let inputs = {};
  let shownOp = "";
  const sizes = h("div", { class: "sc-fields" });
  /** The fields of the op, made anew when the op is another. */
  function refresh(always) {
    const op = model.get("op");
    if (op !== shownOp) {
      shownOp = op;
      inputs = Object.fromEntries(
        Object.entries(OPS[op].fields).map(([name, { label }]) => [
          name,
          numberField({
            label,
            get: () => model.get("sizes")[name],
            put: (value) => resize(name, value),
            problem: (value) => problem(op, name, value),
            next: (value, way, far) => next(name, value, way, far),
          }),
        ]),
      );
      replace(sizes, Object.values(inputs));
    }
    if (Object.keys(OPS[op].fields).every((name) => name in model.get("sizes"))) Object.values(inputs).forEach((one) => one.refresh(always));
  }
  const note = h("p", { class: "sc-note", role: "status" });
  const head = h("p", { class: "sc-head" });
  const told = h("p", { class: "sc-small" });
  const picture = plot({
    device: (device) => ui.set({ device }),
    slide: (intensity) => resize(slideOf(setting()), sizeAt(setting(), intensity)),
    step: (way) => {
      const name = slideOf(setting());
      resize(name, next(name, model.get("sizes")[name], way, false));
    },
  });
  ui.defer(picture.stop);
  const spot = picture.node;
  const answers = table();
  const measured = h("ul", { class: "rl-list" });
  const measuredBox = h("div", { class: "sc-box" }, h("p", { class: "sc-title" }, "Measured"), measured);
  const sources = h(
    "details",
    {},
    h("summary", {}, "Where the ceilings come from"),
    h("ul", { class: "rl-list" }, Object.values(DEVICES).map(({ full, source, bandwidth, flops }) => h("li", {}, `${full}: ${significant(bandwidth / 1e12)} TB/s; ${Object.entries(flops).map(([name, value]) => `${name} ${significant(value / 1e12)}`).join(", ")} TFLOP/s, dense. ${source}.`))),
    h("p", { class: "sc-small" }, "Data sheets often print twice these figures, “with sparsity”. Below fp32, fp16 counts as bf16. Peaks are those of the highest clock; a long matmul reaches some 70 to 80 % of them, a copy some 90 % of the bandwidth."),
  );

  function draw() {
    const now = setting();
    const complete = Object.keys(OPS[now.op].fields).every((name) => name in now.sizes) && (now.device !== MACHINE || isMachine(now.machine));
    if (!complete) return;
    refresh(false);
    which.update({ value: now.op });
    dtype.update({ value: now.dtype });
    fused.update({ value: String(now.fused) });
    fused.hidden = !OPS[now.op].fusable;
    const about = ui.mark(sizedAs(now));
    ui.tell(note, presetOf(now) ? about : ""); // it speaks of the preset's dtype
    const of = costOf(now);
    const one = results(now)[now.device];
    const { label } = devicesOf(now)[now.device];
    replace(head, h("b", { class: "rl-dose" }, `${significant(of.intensity)} FLOP per byte`), one ? `: ${label} waits for ${one.bound === "compute" ? "arithmetic" : "memory"}, at most ${prefixed(one.attainable, "FLOP")}/s in ${now.dtype}` : `: ${label} has no figure for ${now.dtype}`);
    told.textContent = advice(now);
    picture.draw(now, points(), Math.max(250, spot.clientWidth - 1));
    measuredBox.hidden = !points().length;
    replace(measured, points().map((each) => h("li", {}, `${place(each, now.machine)}.`)));
    answers.draw(rows(now));
    ui.say(describe(now, points()));
  }
  ui.follow(draw, [...PARTS, "points"]);

  refresh(true);
  ui.lay({
    stage: spot,
    presets: chips,
    readout: h("div", { class: "rl-told" }, head),
    drawer: [
      told,
      h("div", { class: "sc-fields" }, which, dtype, fused),
      sizes,
      note,
      h("div", { class: "sc-bar" }, copyButton("Copy as Python", () => script(setting())), link),
      measuredBox,
      h("div", { class: "sc-box" }, answers.node),
      sources,
    ],
  });
  draw();
  ui.watch(spot, draw);
  return ui.cleanup;
}

export default { render };
