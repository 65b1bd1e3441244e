// Outputs: those that the book has on the page, those that the kernel sends, and how the latter are shown.
import { differences, differs, normal, told } from "./compare.js";

const MOST = 1_000_000; // characters of a cell that are shown
const WIDGET = "application/vnd.jupyter.widget-view+json";
const PLOTLY = "application/vnd.plotly.v1+json";
const PICTURES = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const SERVER_CUT = /^\s*IOPub (?:data|message) rate exceeded/;

const element = (tag, { className = "", text } = {}) => {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
};

// A text as a terminal leaves it: what a carriage return writes over is gone.
// One at the end of a line stays: what it writes over is yet to come.
const settled = (text) =>
  text.includes("\r")
    ? text.replaceAll("\r\n", "\n").split("\n").map((line) => line.slice(line.lastIndexOf("\r", line.length - 2) + 1)).join("\n")
    : text;

// What an output says, without what only styles it, and the site's button that copies it.
function wordsOf(place) {
  const copy = place.cloneNode(true);
  copy.querySelectorAll("style, script, .copybtn").forEach((one) => one.remove());
  return copy.textContent;
}

// ---------- what a cell gave here ----------

export class Outputs {
  // `place` is shown what comes; `widgets` knows the models of the kernel.
  constructor(place, widgets, addFigure) {
    Object.assign(this, { place, widgets, addFigure, all: [], size: 0, cut: false, pending: [] });
    place.replaceChildren();
  }

  take(type, content) {
    if (type === "clear_output") return content.wait ? (this.clearNext = true) : this.clear();
    if (!["stream", "display_data", "execute_result", "error", "update_display_data"].includes(type)) return;
    if (this.clearNext) this.clear();
    if (type === "stream") return this.stream(content);
    if (type === "error") return this.error(content);
    const id = content.transient?.display_id;
    if (type === "update_display_data") return this.update(id, content);
    this.add(this.shown(content), id);
  }

  clear() {
    this.clearNext = false;
    this.all = [];
    this.size = 0;
    this.cut = false;
    this.place.replaceChildren();
  }

  // What is left of a text within the room that a cell has.
  within(text) {
    const room = MOST - this.size;
    this.size += text.length;
    if (text.length <= room) return text;
    if (!this.cut) this.place.append(element("p", { className: "live-cut", text: `Cut here: a cell's output is shown up to ${MOST.toLocaleString("en")} characters.` }));
    this.cut = true;
    return text.slice(0, Math.max(0, room));
  }

  add(output, id) {
    if (!output) return;
    this.all.push(Object.assign(output, { id }));
    const cut = this.place.querySelector(":scope > .live-cut");
    if (cut) cut.before(output.element);
    else this.place.append(output.element);
  }

  stream({ name, text }) {
    if (SERVER_CUT.test(text)) text = "\nCut here: the cell writes faster than it can be sent.\n";
    const last = this.all.at(-1);
    if (this.cut) return;
    if (last?.kind === "text" && last.stream === name) {
      last.text = settled(last.text + this.within(text));
      clearTimeout(last.timer);
      // Many small writes are shown together.
      last.timer = setTimeout(() => (last.element.querySelector("pre").textContent = normalAnsi(last.text)), 30);
      last.flush = () => (last.element.querySelector("pre").textContent = normalAnsi(last.text));
      return;
    }
    const part = settled(this.within(text));
    this.add({ kind: "text", stream: name, text: part, element: block(part, "stream") });
  }

  error({ ename, evalue, traceback }) {
    const said = evalue ? `${ename}: ${evalue}` : ename;
    this.add({ kind: "error", text: this.within(said), element: block(this.within(traceback.join("\n")), "traceback") });
  }

  update(id, content) {
    const old = this.all.find((one) => one.id === id);
    const now = old && this.shown(content);
    if (!now) return;
    old.element.replaceWith(now.element);
    Object.assign(old, now);
  }

  shown({ data, metadata = {} }) {
    const plain = [data["text/plain"] ?? ""].flat().join("");
    if (data[WIDGET]) return this.widget(data[WIDGET].model_id, plain);
    if (data[PLOTLY]) return this.plot(data[PLOTLY]);
    const html = data["text/html"] ?? data["text/markdown"];
    if (data["text/html"] || data["image/svg+xml"]) return this.html([html ?? data["image/svg+xml"]].flat().join(""), plain);
    const picture = PICTURES.find((type) => data[type]);
    if (picture) return this.picture(picture, [data[picture]].flat().join(""), plain, metadata);
    if (!plain && !html) return undefined; // of the press alone: numbers for the prose, evidence
    const text = this.within(plain || html);
    return { kind: "text", text, element: block(text, "text_plain") };
  }

  html(text, plain) {
    if (text.length > MOST) return { kind: "text", text: plain, element: block(this.within(plain || text), "text_plain") };
    this.size += text.length;
    const place = element("div", { className: "output text_html" });
    const output = { kind: "html", text: plain, element: place };
    this.pending.push(
      sanitised(text).then((clean) => {
        place.replaceChildren(clean);
        output.text = wordsOf(place);
      }),
    );
    return output;
  }

  picture(type, data, words, metadata) {
    const image = element("img");
    const size = metadata[type] ?? {};
    if (data.length > 10 * MOST) return { kind: "text", text: words, element: block(words, "text_plain") };
    image.src = `data:${type};base64,${data.replace(/\s/g, "")}`;
    image.alt = words;
    if (size.width) image.width = size.width;
    return { kind: "picture", text: words, element: image };
  }

  widget(id, plain) {
    const model = this.widgets.model(id);
    if (model?.get("_model_module") !== "anywidget") {
      return { kind: "text", text: plain, element: block("(open this page's notebook in Jupyter to use the control)", "text_plain") };
    }
    // The module's own text starts it; the page that carries it already is not asked.
    const spec = { model: id, esm: model.get("_esm"), css: model.get("_css") ?? "", state: {} };
    const figure = this.figure("anywidget", spec, model.get("words") ?? plain);
    this.pending.push(this.addFigure(figure, model));
    const state = Object.fromEntries(Object.entries(model.state).filter(([name]) => !name.startsWith("_")));
    return { kind: "figure", state: structuredClone(state), text: model.get("words") ?? "", element: figure };
  }

  plot(spec) {
    const words = spec.layout?.meta?.alt ?? "";
    const figure = this.figure("plotly", spec, words);
    this.pending.push(this.addFigure(figure));
    return { kind: "figure", state: undefined, text: words, element: figure };
  }

  figure(kind, spec, words) {
    const figure = element("figure", { className: "viz-mount" });
    figure.dataset.kind = kind;
    const script = element("script", { text: JSON.stringify(spec) });
    script.type = "application/json";
    figure.append(script, element("figcaption", { className: "viz-words", text: words }));
    return figure;
  }

  async complete() {
    for (const one of this.all) one.flush?.();
    await Promise.allSettled(this.pending);
    return this.all;
  }
}

const normalAnsi = (text) => text.replace(/\x1b\[[0-9;]*m/g, "");

function block(text, kind) {
  const outer = element("div", { className: `output ${kind} highlight-myst-ansi notranslate` });
  const inner = element("div", { className: "highlight" });
  inner.append(element("pre", { text: normalAnsi(text) }));
  inner.firstChild.tabIndex = 0; // it may scroll
  outer.append(inner);
  return outer;
}

// ---------- HTML that may come from anywhere ----------

let purify;

// What Jupyter would show of an output that it does not trust: no script, no handler, no form, no style sheet, no frame,
// and nothing that is fetched from another host.
export async function sanitised(html) {
  purify ??= (await import("./purify.js")).default;
  const clean = purify.sanitize(html, {
    RETURN_DOM_FRAGMENT: true,
    USE_PROFILES: { html: true, svg: true, svgFilters: true, mathMl: true },
    FORBID_TAGS: ["style", "form", "input", "button", "textarea", "select", "option", "dialog", "audio", "video", "source"],
    FORBID_ATTR: ["name", "srcset", "ping", "background", "poster", "popover", "popovertarget"],
    ALLOW_DATA_ATTR: false,
    ADD_URI_SAFE_ATTR: [],
  });
  for (const image of clean.querySelectorAll("img, image, use, feImage")) {
    for (const name of ["src", "href", "xlink:href"]) {
      if (image.hasAttribute(name) && !/^(?:data:image\/|#)/.test(image.getAttribute(name))) image.removeAttribute(name);
    }
  }
  for (const link of clean.querySelectorAll("a[href]")) Object.assign(link, { rel: "noopener noreferrer", target: "_blank" });
  return clean;
}

// ---------- what the book has ----------

export function printed(cell) {
  const place = cell.querySelector(":scope > .cell_output");
  return [...(place?.children ?? [])].flatMap((one) => {
    if (one.matches(".stream, .text_plain")) return [{ kind: "text", text: wordsOf(one) }];
    if (one.matches(".traceback")) return [{ kind: "error", text: wordsOf(one) }];
    const figures = [...one.querySelectorAll("figure.viz-mount")];
    if (figures.length) return figures.map(figureOf);
    if (one.matches(".text_html")) return [{ kind: "html", text: wordsOf(one) }];
    if (one.matches("img, .image")) return [{ kind: "picture", text: "" }];
    return [{ kind: "more", text: wordsOf(one) }];
  });
}

function figureOf(figure) {
  const words = figure.querySelector(".viz-words")?.textContent ?? "";
  if (figure.dataset.kind !== "anywidget") return { kind: "figure", text: words };
  const { state } = JSON.parse(figure.querySelector(":scope > script").textContent);
  return { kind: "figure", state, text: words };
}

// ---------- the two, side by side ----------

const texts = (outputs) => outputs.filter(({ kind }) => kind === "text").map(({ text }) => normal(text)).join("\n");
const spaceless = (text) => normal(text).replace(/\s+/g, " ").trim();

// { verdict: "same" | "differs" | "varies", words } of a cell: what it gave here, against the page's print.
export function verdict(here, book, tags) {
  const found = differences(texts(here), texts(book));
  const of = (outputs, ...kinds) => outputs.filter(({ kind }) => kinds.includes(kind));
  const [error, bookError] = [of(here, "error")[0], book.filter(({ kind }) => kind === "error" || kind === "more")];
  if (error) {
    const all = spaceless(bookError.map(({ text }) => text).join("\n"));
    if (!all.includes(spaceless(error.text))) found.push([error.text.split("\n")[0], all ? all.slice(-120) : "no error"]);
  } else if (of(book, "error").length) found.push(["no error", "an error"]);
  const kinds = ["html", "picture", "figure"];
  const [ours, theirs] = [of(here, ...kinds), of(book, ...kinds)];
  if (ours.length !== theirs.length) found.push([`${ours.length} figures or tables`, `${theirs.length}`]);
  ours.slice(0, theirs.length).forEach((one, n) => found.push(...shownDifferences(one, theirs[n])));
  if (!found.length) return { verdict: "same", words: here.length || book.length ? "same as in the book" : "has run; no output, as in the book" };
  if (tags.includes("varies")) return { verdict: "varies", words: "timing, differs every time" };
  return { verdict: "differs", words: told(found) };
}

function shownDifferences(here, book) {
  const words = differences(spaceless(here.text ?? ""), spaceless(book.text ?? ""));
  if (words.length || !here.state || !book.state || book.kind !== "figure") return here.kind === "picture" ? [] : words;
  return differs(here.state, book.state) ? [["a figure in another state", "its own"]] : [];
}
