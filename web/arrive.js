// Arriving at what is folded: opens it, and, when a search led here, marks the words and shows the first.
(() => {
  const PLACES = "section[id], details.fold, .predict, .predict details, fieldset[data-question]"; // as in search.py
  const NO_TEXT = "script, style, svg, button, .headerlink, .viz-mount, [data-mjx-texclass], mjx-container";

  function unfold(element) {
    for (let at = element; at; at = at.parentElement?.closest("details")) if (at.matches("details")) at.open = true;
  }

  function targetOf(address) {
    try {
      return document.getElementById(decodeURIComponent(address.hash.slice(1)));
    } catch {
      return null; // what follows the # is no name
    }
  }

  // ---------- any link to what is folded ----------

  function arrive() {
    const target = targetOf(location);
    const folded = target?.closest("details");
    if (!folded || (folded.open && !folded.parentElement.closest("details:not([open])"))) return target;
    unfold(folded);
    target.scrollIntoView();
    return target;
  }

  addEventListener("hashchange", arrive);
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (link && link.hash === location.hash) arrive(); // no hashchange: it was folded again
  });

  // ---------- words, as the page of results marks them too ----------

  const escaped = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  // Of each word its stem is given, which may end in i where the word ends in y; a group a word.
  const forms = (stems) => stems.map((stem) => `(${escaped(stem).replace(/i$/, "[iy]")})`);
  const patternOf = (stems) => new RegExp(`(?<![\\p{L}\\p{N}])(?:${forms(stems).join("|")})[\\p{L}\\p{N}_]*`, "giu");

  const hitsIn = (text, pattern) =>
    [...text.matchAll(pattern)].map(({ 0: word, index, ...groups }) => ({
      word,
      index,
      which: Object.keys(groups).find((group) => group > 0 && groups[group] !== undefined),
    }));

  // The hit from which on, within reach, most of the words are.
  function densest(hits, reach) {
    const ahead = ({ index }) => hits.filter((hit) => hit.index >= index && hit.index < index + reach);
    const variety = (hit) => new Set(ahead(hit).map(({ which }) => which)).size;
    return hits.reduce((best, hit) => (best && variety(best) >= variety(hit) ? best : hit), null);
  }

  globalThis.bookWords = { patternOf, hitsIn, densest };

  // ---------- a search ----------

  const REACH = 240; // characters

  function takeWords() {
    const address = new URL(location);
    const asked = (address.searchParams.get("find") ?? "").split(" ").filter(Boolean);
    address.searchParams.delete("find");
    try {
      if (asked.length) history.replaceState(history.state, "", address);
    } catch {
      // The address then keeps the words.
    }
    return asked.length ? patternOf(asked) : null;
  }

  // Every hit in an element, with its place in the element's whole text, and as a range.
  function hitsBelow(element, pattern) {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, (node) =>
      node.parentElement.closest(NO_TEXT) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
    );
    const found = [];
    let before = 0;
    while (texts.nextNode()) {
      const node = texts.currentNode;
      for (const hit of hitsIn(node.data, pattern)) {
        const range = document.createRange();
        range.setStart(node, hit.index);
        range.setEnd(node, hit.index + hit.word.length);
        found.push({ ...hit, index: before + hit.index, range });
      }
      before += node.data.length;
    }
    return found;
  }

  function mark(ranges) {
    if (!globalThis.Highlight || !CSS.highlights) return;
    CSS.highlights.set("found", new Highlight(...ranges));
    document.addEventListener("keydown", ({ key }) => key === "Escape" && CSS.highlights.delete("found"));
  }

  // Of one place only, not of a hint or a solution in it.
  function own(target, hits) {
    const place = target.closest(PLACES) ?? target;
    return densest(hits.filter(({ range }) => range.startContainer.parentElement.closest(PLACES) === place), REACH);
  }

  function bring(range) {
    const line = range.getBoundingClientRect();
    if (line.top < 80 || line.bottom > innerHeight - 40) scrollBy({ top: line.top - innerHeight / 3, behavior: "instant" });
  }

  // What is above may still grow: formulas are set, figures drawn. A reader who moves has arrived.
  function keepInView(range) {
    let moved = false;
    for (const name of ["wheel", "touchstart", "keydown", "pointerdown"]) {
      addEventListener(name, () => (moved = true), { once: true, passive: true });
    }
    const again = () => moved || bring(range);
    again();
    addEventListener("load", async () => {
      again();
      await globalThis.MathJax?.startup?.promise;
      again();
    });
  }

  const pattern = takeWords();
  const target = arrive();
  if (!pattern) return;
  const hits = hitsBelow(document.querySelector("article") ?? document.body, pattern);
  mark(hits.map(({ range }) => range));
  const first = target && own(target, hits);
  if (!first) return;
  unfold(first.range.startContainer.parentElement.closest("details"));
  keepInView(first.range);
})();
