/** A run as a picture: curves, bars or lanes, ill or cured, in a box of 100 by 60 that is stretched to its place. */

import { significant } from "../core/units.js";
import { patientOf } from "./model.js";

export const [WIDE, HIGH] = [100, 60];
const [EDGE, FLOOR, ROOF] = [2, 57, 9];
const ROW = 20; // of a lane, at most
const round = (x) => Number(x.toFixed(2));
const isLanes = (run) => Array.isArray(run.sick[0][0]) || run.waits !== undefined;

function scaled(run) {
  if (isLanes(run)) {
    const end = Math.max(...[run.sick, run.cured, ...run.waits].flat(3));
    const row = Math.min(ROW, (HIGH - 4) / run.names.length);
    return { x: (time) => round(EDGE + (time / end) * (WIDE - 2 * EDGE)), row, top: (HIGH - row * run.names.length) / 2 };
  }
  const values = [...run.sick, ...run.cured].flat().filter((value) => value !== null);
  const [top, low] = [Math.max(...values, run.level?.[0] ?? 0), Math.min(0, ...values)];
  const count = run.sick[0].length;
  return { top, x: (i) => round(EDGE + (i / (count - 1)) * (WIDE - 2 * EDGE)), y: (value) => round(FLOOR - ((value - low) / (top - low)) * (FLOOR - ROOF)) };
}

/** Where a curve is at each step; after its end it stays where it ended. */
function placed(curve, { x, y }) {
  let last = [0, 0];
  return curve.map((value, i) => (last = value === null ? last : [x(i), y(value)]));
}

const line = (points) => `M${points.map((point) => point.join(" ")).join("L")}`;
const spans = (all, { x, row, top }, lane, [from, height]) => all.map(([start, end]) => `M${x(start)} ${round(top + lane * row + from * row)}H${x(end)}v${end > start ? round(height * row) : 0}H${x(start)}z`).join("");

/**
 * What is drawn of a run.
 * @returns {{paths: Array<{key: string, d: string, cls: string}>, labels: Array<{key: string, x: number, y: number, text: string, cls: string}>,
 *   mark: {x: number, y: number, broken: boolean}}} places are in the box; `mark` is where illness shows: where the ill curve ends, else where it is farthest from the cured one
 */
export function drawn(run, cured) {
  const patient = patientOf(run);
  const scale = scaled(run);
  if (isLanes(run)) return drawnLanes(run, scale, cured);
  const { x, y, top } = scale;
  const shown = cured ? run.cured : run.sick;
  const of = (curve) => {
    const points = placed(curve, scale);
    return run.bars ? points.map(([px, py]) => `M${px} ${FLOOR}V${py}`).join("") : line(points);
  };
  const paths = shown.map((curve, i) => ({ key: `c${i}`, d: of(curve), cls: i === patient ? (cured ? "sy-well" : "sy-ill") : run.sketch ? "sy-level" : "sy-other" }));
  if (cured) paths.unshift({ key: "ghost", d: of(run.sick[patient]), cls: "sy-ghost" });
  if (run.level) paths.unshift({ key: "level", d: `M${EDGE} ${y(run.level[0])}H${WIDE - EDGE}`, cls: "sy-level" });
  const [ill, well] = [run.sick[patient], run.cured[patient]];
  const ends = ill.indexOf(null);
  const far = ill.map((value, i) => Math.abs((value ?? 0) - well[i]));
  const at = ends > 0 ? ends - 1 : far.lastIndexOf(Math.max(...far));
  const mark = { x: x(at), y: y(ill[at]), broken: ends > 0 };
  const labels = [{ key: "y", x: EDGE, y: 0, text: `${run.y}, 0 to ${significant(top)}`, cls: "" }, { key: "x", x: WIDE - EDGE, y: HIGH, text: run.sketch ? `${run.x} (a sketch)` : run.x, cls: "sy-right" }];
  if (run.level) labels.push({ key: "level", x: EDGE + 1, y: y(run.level[0]), text: run.level[1], cls: y(run.level[0]) < 12 ? "sy-below" : "sy-above" });
  if (run.names.length > 1) {
    const last = shown.map((curve, i) => ({ key: `n${i}`, x: WIDE - EDGE, y: y(curve.findLast((value) => value !== null)), text: run.names[i], cls: i === patient ? (cured ? "sy-right sy-t-well" : "sy-right sy-t-ill") : run.sketch ? "sy-right" : "sy-right sy-t-other" }));
    const [upper, lower] = [...last].sort((a, b) => a.y - b.y);
    upper.cls += " sy-above";
    lower.cls += lower.y > HIGH - 9 || lower.y - upper.y > 16 ? " sy-above" : " sy-below";
    if (lower.y - upper.y < 9 && lower.cls.endsWith("above")) upper.y = lower.y - 9;
    labels.push(...last);
  }
  return { paths, labels, mark, top };
}

function drawnLanes(run, scale, cured) {
  const side = cured ? 1 : 0;
  const shown = cured ? run.cured : run.sick;
  const part = [0.36, 0.5];
  const [was, is] = [run.sick, run.cured].map((lanes) => Math.max(...lanes.flat(2)));
  const paths = run.names.flatMap((_, lane) => [
    { key: `w${lane}`, d: spans(run.waits[side][lane], scale, lane, [0.5, 0.22]), cls: "sy-wait" },
    { key: `l${lane}`, d: spans(shown[lane], scale, lane, part), cls: cured ? "sy-work sy-worked" : "sy-work" },
  ]);
  if (cured && was > is) paths.unshift({ key: "ghost", d: `M${scale.x(was)} 2V${HIGH - 2}`, cls: "sy-ghost" });
  const all = run.waits[0].flatMap((spansOf, lane) => spansOf.map(([start, end]) => ({ lane, start, end })));
  const { lane, start, end } = all.reduce((a, b) => (b.end - b.start > a.end - a.start ? b : a));
  const mark = { x: scale.x((start + end) / 2), y: scale.top + (lane + 0.61) * scale.row, broken: false };
  const labels = run.names.map((text, i) => ({ key: `r${i}`, x: EDGE, y: scale.top + (i + 0.33) * scale.row, text, cls: "sy-above" }));
  labels.push({ key: "x", x: WIDE - EDGE, y: HIGH, text: `${run.x} (a sketch)`, cls: "sy-right" });
  return { paths, labels, mark };
}
