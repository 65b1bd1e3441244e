// Run in a page of the site: gives its article as XHTML without scripts and without anything to press, with the plots as
// SVG beside it and the formulas as the MathML that is handed in, in their order. Folded hints and solutions move to the
// end, where a link leads.
async ({ site, pages, names, here, online, mathml }) => {
  const live = document.querySelector("article");
  const drawings = [];
  const pictures = {};
  const make = (tag, attributes = {}, ...content) => {
    const made = document.createElement(tag);
    Object.entries(attributes).forEach(([name, value]) => made.setAttribute(name, value));
    made.append(...content);
    return made;
  };

  // plotly leaves paths without a way, which SVG 1.1 forbids.
  function drawing(text) {
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    parsed.querySelectorAll("path:not([d])").forEach((path) => path.remove());
    return new XMLSerializer().serializeToString(parsed);
  }

  // The field of a plot, as wide as a page, with the colours that the page gives it.
  function field(plot) {
    const area = plot.querySelector(".plot-area");
    const svg = area.querySelector("svg");
    const [width, height] = [720, area.parentElement.clientHeight];
    const { top, right, bottom, left } = getComputedStyle(area);
    const copy = svg.cloneNode(true);
    const all = [...svg.querySelectorAll("*")];
    for (const [number, one] of [...copy.querySelectorAll("*")].entries()) {
      const asked = [...one.attributes].filter(({ value }) => value.startsWith("var("));
      for (const { name } of asked) one.setAttribute(name, getComputedStyle(all[number])[name]);
    }
    const place = { x: left, y: top, width: width - parseFloat(left) - parseFloat(right) };
    place.height = height - parseFloat(top) - parseFloat(bottom);
    Object.entries(place).forEach(([name, value]) => copy.setAttribute(name, parseFloat(value)));
    const look = `svg { overflow: visible } text { font: 12px sans-serif } svg > svg { fill: ${getComputedStyle(area).fill} }
      .plot-grid { stroke: ${getComputedStyle(svg.querySelector(".plot-grid")).stroke} } .plot-lines { overflow: hidden }
      .plot-lines path { fill: none; vector-effect: non-scaling-stroke }`;
    const space = 'xmlns="http://www.w3.org/2000/svg"';
    const inside = new XMLSerializer().serializeToString(copy);
    return `<svg ${space} width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"><style>${look}</style>${inside}</svg>`;
  }

  function keep(stage, text, title) {
    const name = `images/${here}-plot-${drawings.length + 1}.svg`;
    drawings.push([name, drawing(text)]);
    stage.replaceWith(make("img", { src: name, alt: `${title.replace(/<[^>]*>/g, "")}: described below`, class: "plot" }));
  }

  // Plots: drawings, and what plotly has drawn, while it is alive.
  for (const figure of live.querySelectorAll("figure.viz-mount[data-kind=plotly]")) {
    const plot = figure.querySelector(":scope > .plot");
    if (plot) {
      keep(plot.querySelector(".plot-field"), field(plot), plot.querySelector(".plot-title")?.textContent || "Plot");
      continue;
    }
    const stage = figure.querySelector(":scope > .viz-stage");
    if (!figure.dataset.ready) continue;
    const address = await Plotly.toImage(stage, { format: "svg", width: 720, height: stage.clientHeight || 400 });
    keep(stage, decodeURIComponent(address.slice(address.indexOf(",") + 1)), stage.layout?.title?.text ?? "Plot");
  }

  const article = live.cloneNode(true);
  const all = (selector) => [...article.querySelectorAll(selector)];
  all(".math").forEach((formula, number) => (formula.innerHTML = mathml[number]));

  // Exercises: what is folded goes to the end of the chapter.
  const answers = make("section", { class: "answers", id: "hints-and-solutions" }, make("h2", {}, "Hints and solutions"));
  for (const exercise of all("section.exercise")) {
    const folded = [...exercise.querySelectorAll(":scope > .fold, :scope > .quiz fieldset > details, .quiz > .fold")];
    if (!folded.length) continue;
    const name = `answers-${exercise.id}`;
    const title = exercise.querySelector("h2, h3, h4");
    title.querySelector("a.headerlink")?.remove();
    const back = make("a", { href: `#${exercise.id}` }, title.textContent.trim());
    const block = make("section", { id: name }, make("h3", {}, back));
    for (const one of folded) {
      const question = one.closest("fieldset")?.querySelector("legend");
      const said = question ? [...question.cloneNode(true).childNodes] : [...one.querySelector("summary").childNodes];
      one.querySelector("summary").remove();
      block.append(make("h4", {}, ...said), ...one.childNodes);
      one.remove();
    }
    answers.append(block);
    const line = exercise.querySelector(".exercise-check") ?? exercise;
    const quiz = exercise.querySelector(".quiz");
    line.append(" ", make("a", { href: `#${name}` }, quiz ? "Answers" : "Hints and solution"), ".");
  }
  if (answers.children.length > 1) article.append(answers);

  // Questions: a question, its options, and for a prediction the answer.
  for (const fieldset of all("fieldset")) {
    const prediction = fieldset.closest(".prediction");
    const options = make("ul", { class: "options" });
    for (const label of fieldset.querySelectorAll(":scope > label:not(.not-sure)")) {
      if (!options.isConnected) label.before(options);
      options.append(make("li", {}, ...label.querySelector("span").childNodes));
    }
    const legend = fieldset.querySelector("legend");
    legend.replaceWith(make("p", { class: "question" }, ...legend.childNodes));
    const answer = fieldset.querySelector("details");
    answer?.querySelector("summary").remove();
    answer?.replaceWith(make("div", { class: "answer" }, make("p", { class: "label" }, "Answer"), ...answer.childNodes));
    const kind = prediction ? "predict" : "ask";
    fieldset.replaceWith(make("div", { class: kind }, ...fieldset.childNodes));
  }

  // What sentences rest on: a number leads to the list at the end.
  for (const mark of all("a:is(.holds, .cited)[data-n]")) {
    mark.append(make("sup", {}, mark.dataset.n));
    mark.setAttribute("href", `#evidence-${mark.dataset.n}`);
  }
  for (const list of all("details.evidence")) {
    const title = make("p", { class: "label" }, list.querySelector("summary").textContent);
    list.querySelector("summary").remove();
    list.replaceWith(make("div", { class: "evidence", id: "evidence" }, title, ...list.childNodes));
  }

  for (const label of all(".checklist label")) label.replaceWith(...label.querySelector("span").childNodes);

  const gone = `script, style, noscript, template, button, input, select, dialog, label.not-sure, a.headerlink, .typed,
    .verdict, .exercise-solved, .count, .pace, .known, .viz-stage, .lane-tabs, .modebar-container, details.hide, details.checks,
    .result > [role=status], .result > p:has(> button)`;
  all(gone).forEach((one) => one.remove());
  all("[hidden]").forEach((one) => one.removeAttribute("hidden"));

  // Pictures and links.
  for (const image of all("img[src]")) {
    const from = image.getAttribute("src").startsWith("images/") ? null : new URL(image.getAttribute("src"), location).href;
    if (!from) continue;
    const inline = /^data:image\/(\w+)/.exec(from)?.[1];
    const file = inline ? `${here}-${Object.keys(pictures).length + 1}.${inline}` : from.split("/").pop().split("?")[0];
    const name = `images/${file}`;
    pictures[name] = from;
    image.setAttribute("src", name);
  }
  const known = new Map(pages.map((page, number) => [page, names[number]]));
  for (const link of all("a[href]")) {
    const address = new URL(link.getAttribute("href"), location.href.split("#")[0]);
    if (!address.href.startsWith(site)) continue;
    const path = decodeURIComponent(address.href.slice(site.length).split("#")[0]);
    const file = known.get(path.replace(/\.html$/, ""));
    link.setAttribute("href", file ? file + address.hash : `${online}/${path}${address.hash}`);
  }

  // What XHTML does not know.
  const kept = /^(id|class|href|src|alt|title|lang|dir|colspan|rowspan|scope|start|style|role|aria-label|aria-hidden)$/;
  for (const one of [article, ...all("*")]) {
    if (one.namespaceURI !== "http://www.w3.org/1999/xhtml") continue;
    for (const { name } of [...one.attributes]) if (!kept.test(name)) one.removeAttribute(name);
    if (one.id === "") one.removeAttribute("id");
  }
  for (const empty of all("ul:empty, ol:empty, dl:empty, p:empty")) empty.remove();
  article.removeAttribute("role");

  const headings = [...article.querySelectorAll("section[id] > :is(h1, h2)")].map((heading) => ({
    level: Number(heading.tagName[1]),
    text: heading.textContent.replace(/\s+/g, " ").trim(),
    id: heading.parentElement.id,
  }));
  const xhtml = new XMLSerializer().serializeToString(article);
  const has = { svg: Boolean(article.querySelector("svg")), mathml: Boolean(article.querySelector("math")) };
  return { xhtml, headings, drawings, pictures, has };
}
