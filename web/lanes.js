// Outputs of one cell on several devices, as tabs. Without this script, and on paper, they stand below each other.
(() => {
  const KEY = "torchbook:lane"; // one choice for the whole site
  const sets = [];

  function chosen() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  function keep(lane) {
    try {
      localStorage.setItem(KEY, lane);
    } catch {
      // Private browsing, or storage is full: the choice lasts for this page only.
    }
  }

  function show(tabs, lane) {
    const at = tabs.find(({ name }) => name === lane);
    if (!at) return; // this cell was not recorded there: its tabs stay as they are
    for (const { name, tab, panel } of tabs) {
      tab.setAttribute("aria-selected", String(name === lane));
      tab.tabIndex = name === lane ? 0 : -1;
      panel.hidden = name !== lane;
    }
  }

  // All cells turn to the device; what was clicked stays where it is on the screen.
  function choose(tab, lane) {
    const before = tab.getBoundingClientRect().top;
    sets.forEach((tabs) => show(tabs, lane));
    keep(lane);
    scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: "instant" });
    dispatchEvent(new Event("resize")); // what scrolls now must be in the keyboard's reach: the theme looks again
  }

  function move(tabs, event) {
    const at = tabs.findIndex(({ tab }) => tab === event.target);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined) return;
    const { name, tab } = tabs.at(to % tabs.length);
    event.preventDefault();
    tab.focus();
    choose(tab, name);
  }

  function start(box, number) {
    const panels = [...box.querySelectorAll(":scope > .lane")];
    if (panels.length < 2) return;
    const list = document.createElement("div");
    list.className = "lane-tabs";
    list.setAttribute("role", "tablist");
    list.setAttribute("aria-label", "Device that these outputs come from");
    const tabs = panels.map((panel, index) => {
      const tab = Object.assign(document.createElement("button"), {
        type: "button",
        id: `lane-${number}-${index}-tab`,
        textContent: panel.querySelector(".lane-name").textContent,
      });
      panel.id = `lane-${number}-${index}`;
      tab.setAttribute("role", "tab");
      tab.setAttribute("aria-controls", panel.id);
      panel.setAttribute("role", "tabpanel");
      panel.setAttribute("aria-labelledby", tab.id);
      panel.tabIndex = 0;
      list.append(tab);
      return { name: panel.dataset.lane, tab, panel };
    });
    tabs.forEach(({ name, tab }) => tab.addEventListener("click", () => choose(tab, name)));
    list.addEventListener("keydown", (event) => move(tabs, event));
    box.prepend(list);
    box.dataset.live = "";
    show(tabs, tabs[0].name);
    sets.push(tabs);
  }

  document.querySelectorAll(".lanes").forEach(start);
  const before = chosen();
  if (before) sets.forEach((tabs) => show(tabs, before));
})();
