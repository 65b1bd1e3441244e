// What a reader takes from a page, and says of it: the page as Markdown, and the form for what is wrong, with the words.
(() => {
  const article = document.querySelector("article.bd-article");
  if (!article) return;

  // ---------- the page as Markdown ----------

  // What a page shows, where its twin cannot be had: opened as a file it may load scripts and nothing else.
  const NOT_TEXT = "script, style, nav, button, svg, select, input, .headerlink, .verdict:empty, .copied";
  const BLOCKS = "p, div, section, details, summary, figure, figcaption, fieldset, legend, label, dl, dt, dd, ul, ol, table";

  function formulas() {
    const all = [...(globalThis.MathJax?.startup?.document?.math ?? [])];
    return new Map(all.map(({ typesetRoot, math, display }) => [typesetRoot, display ? `$$${math}$$` : `$${math}$`]));
  }

  function asMarkdown(root) {
    const tex = formulas();
    const within = (node) => [...node.childNodes].map(written).join("");
    const line = (node) => within(node).replace(/\s+/g, " ").trim();
    const row = (node) => `| ${[...node.children].map(line).join(" | ")} |`;

    function written(node) {
      if (node.nodeType === Node.TEXT_NODE) return node.data.replace(/\s+/g, " ");
      if (node.nodeType !== Node.ELEMENT_NODE || node.matches(NOT_TEXT)) return "";
      if (tex.has(node)) return tex.get(node);
      if (node.matches("pre")) return `\n\n\`\`\`\n${node.textContent.replace(/\n+$/, "")}\n\`\`\`\n\n`;
      if (node.matches(".viz-mount")) return `\n\n*Figure: ${line(node.querySelector(".viz-words") ?? node)}*\n\n`;
      if (node.matches("h1, h2, h3, h4, h5, h6")) return `\n\n${"#".repeat(node.tagName[1])} ${line(node)}\n\n`;
      if (node.matches("code")) return `\`${node.textContent}\``;
      if (node.matches("li")) return `\n- ${within(node).trim().replace(/\n/g, "\n  ")}\n`;
      if (node.matches("tr")) {
        const below = node.matches("thead tr") ? `\n|${" --- |".repeat(node.children.length)}` : "";
        return `\n${row(node)}${below}`;
      }
      return node.matches(BLOCKS) ? `\n\n${within(node)}\n\n` : within(node);
    }

    return `${within(root).replace(/ +$/gm, "").replace(/\n{3,}/g, "\n\n").trim()}\n`;
  }

  async function markdown(address) {
    if (location.protocol !== "file:") {
      const answer = await fetch(address).catch(() => null);
      if (answer?.ok) return answer.text();
    }
    return asMarkdown(article);
  }

  async function toClipboard(text) {
    // Given as a promise: the browser then knows that it was asked for by a press, however long the text takes.
    if (!globalThis.ClipboardItem) return navigator.clipboard.writeText(await text);
    const blob = text.then((words) => new Blob([words], { type: "text/plain" }));
    return navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
  }

  function startCopying(button, address) {
    const said = document.createElement("span");
    said.className = "copied";
    said.setAttribute("role", "status");
    article.closest("main").append(said);
    let timer;
    button.addEventListener("click", async () => {
      clearTimeout(timer);
      said.textContent = "";
      try {
        await toClipboard(markdown(address));
        said.textContent = "Page copied";
      } catch {
        said.textContent = "Not copied: the browser does not allow it";
      }
      timer = setTimeout(() => (said.textContent = ""), 4000);
    });
  }

  // ---------- what is wrong ----------

  const QUOTED = 700; // characters: an address has an end
  const STAYS = 600; // ms that words are selected before the link appears
  const LEAST = 3;

  // The selected words, if they are of the text, and the section that they are in.
  function selected() {
    const selection = getSelection();
    const words = selection.toString().trim();
    if (selection.isCollapsed || words.length < LEAST) return null;
    const node = selection.getRangeAt(0).startContainer;
    const at = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
    return article.contains(at) && !at.closest(".viz-mount, input, textarea") ? { words, at } : null;
  }

  function reported(address, { words, at }) {
    const url = new URL(address);
    const section = at.closest("section[id]");
    const heading = section?.querySelector("h1, h2, h3, h4, h5, h6")?.cloneNode(true);
    heading?.querySelector(".headerlink")?.remove();
    if (heading && !heading.matches("h1")) {
      const where = url.searchParams.get("where").replace(/\)$/, `#${section.id})`);
      url.searchParams.set("where", `“${heading.textContent.trim()}”, ${where}`);
    }
    const quoted = words.length > QUOTED ? `${words.slice(0, QUOTED)} …` : words;
    url.searchParams.set("what", `${quoted.replace(/^/gm, "> ")}\n\n`);
    return url.href;
  }

  function startReporting(link) {
    const address = link.href;
    const chip = link.cloneNode(true);
    chip.className = "report-chip d-print-none";
    chip.hidden = true;
    link.closest("main").append(chip);
    let timer;
    let pressed = false; // the selection grows as long as it is

    function look() {
      clearTimeout(timer);
      const found = selected();
      if (!found) {
        if (document.activeElement !== chip) chip.hidden = true;
        return;
      }
      timer = setTimeout(() => {
        if (pressed) return;
        chip.href = reported(address, found);
        chip.hidden = false;
      }, STAYS);
    }

    document.addEventListener("selectionchange", look);
    document.addEventListener("pointerdown", () => (pressed = true), true);
    for (const name of ["pointerup", "pointercancel"]) {
      document.addEventListener(name, () => ((pressed = false), look()), true);
    }
    document.addEventListener("keydown", ({ key }) => key === "Escape" && (chip.hidden = true));
    // Before a press takes the selection away.
    for (const name of ["pointerdown", "focus"]) {
      link.addEventListener(name, () => {
        const found = selected();
        link.href = found ? reported(address, found) : address;
      });
    }
  }

  const button = document.querySelector(".btn-copy-page-button");
  const twin = document.querySelector("link[rel='alternate'][type='text/markdown']");
  const report = document.querySelector(".report-link");
  if (button && twin) startCopying(button, twin.href);
  if (report) startReporting(report);
})();
