// A reader in a hurry: goes to the first visualizer as soon as it is in the page, and presses until something changes.
window.answered = new Promise((done) => {
  const shown = (element) => element.checkVisibility?.() ?? true;
  const first = (selector) => [...document.querySelectorAll(selector)].find(shown);
  let gone = false;
  async function attempt(root) {
    const controls = [...root.querySelectorAll("button:not([disabled]), select, summary")].filter(shown);
    for (const control of controls) {
      let changed = false;
      const watch = new MutationObserver(() => { changed = true; });
      watch.observe(root, { subtree: true, childList: true, characterData: true, attributes: true });
      if (control.tagName === "SELECT") {
        control.selectedIndex = (control.selectedIndex + 1) % control.length;
        control.dispatchEvent(new Event("change", { bubbles: true }));
      } else control.click();
      await new Promise(requestAnimationFrame);
      watch.disconnect();
      if (changed) return performance.now();
    }
  }
  async function look() {
    const place = first("figure.viz-mount[data-kind=anywidget], .tbviz");
    if (place && !gone) { gone = true; place.scrollIntoView(); }
    const root = first(".tbviz");
    const at = root && (await attempt(root));
    if (at) done(at);
    else requestAnimationFrame(look);
  }
  requestAnimationFrame(look);
});
