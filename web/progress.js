// Where the reader is: which sections of which pages were on the screen. Kept in this browser alone.
(() => {
  const STAYS = 2000; // ms that a section must be in the middle of the screen to count as seen
  const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
  const KEY = `torchbook:reading:${root.pathname}`; // several books may share an address
  const pageOf = (address) => address.pathname.slice(root.pathname.length).replace(/\.html$/, "");
  const here = pageOf(location);

  // { last: page, pages: { page: { seen: [ids], of: how many, at: id, section, title } } }
  function kept() {
    try {
      const { last, pages } = JSON.parse(localStorage.getItem(KEY)) ?? {};
      return { last, pages: { ...pages } };
    } catch {
      return { pages: {} };
    }
  }

  function keep(change) {
    const memory = kept();
    change(memory);
    try {
      localStorage.setItem(KEY, JSON.stringify(memory));
    } catch {
      // Private browsing, or storage is full: the book works, it only forgets.
    }
    return memory;
  }

  const words = (element) => {
    const copy = element.cloneNode(true);
    copy.querySelectorAll(".headerlink, script, mjx-container").forEach((one) => one.remove());
    return copy.textContent.replace(/\s+/g, " ").trim();
  };

  // ---------- what is seen of a page ----------

  const top = document.querySelector("article section:has(> .chapter-head)");
  const sections = [...(top?.querySelectorAll(":scope > section[id]") ?? [])];

  const onScreen = new Set();

  function see(section) {
    const at = sections.find((one) => onScreen.has(one)) ?? section;
    const ids = sections.map(({ id }) => id); // of this edition: an older one may have had others
    tell(
      keep((memory) => {
        const seen = (memory.pages[here]?.seen ?? []).filter((id) => ids.includes(id) && id !== section.id);
        const [title, heading] = [words(top.querySelector("h1")), words(at.querySelector("h2"))];
        memory.last = here;
        memory.pages[here] = { seen: [...seen, section.id], of: ids.length, at: at.id, section: heading, title };
      }),
    );
  }

  function watch() {
    const waiting = new Map();
    const middle = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          clearTimeout(waiting.get(target));
          onScreen[isIntersecting ? "add" : "delete"](target);
          if (isIntersecting) waiting.set(target, setTimeout(see, STAYS, target));
        }
      },
      { rootMargin: "-20% 0px -25% 0px" },
    );
    const start = () => sections.forEach((section) => middle.observe(section));
    document.addEventListener("visibilitychange", () => {
      waiting.forEach((timer) => clearTimeout(timer));
      middle.disconnect();
      if (!document.hidden) start();
    });
    start();
  }

  // ---------- where it is told: side bar, map, first page ----------

  const isRead = ({ seen, of }) => seen.length >= of;
  const inWords = ({ parts = "sections", ...page }) =>
    isRead(page) ? "read" : `begun, ${page.seen.length} of ${page.of} ${parts}`;
  const links = [...document.querySelectorAll(".bd-sidebar-primary nav a.internal, .part-map a")];
  const named = (link) => pageOf(new URL(link.href));

  // A chapter whose pages are below it in the side bar: it is seen as far as they are read.
  const chapters = new Map(
    [...document.querySelectorAll(".bd-sidebar-primary nav li.has-children")].map((item) => [
      named(item.querySelector("a.internal")),
      [...item.querySelectorAll(":scope ul a.internal")].map(named),
    ]),
  );

  function progressOf(name, pages) {
    const inside = chapters.get(name);
    if (!inside) return pages[name];
    const begun = inside.map((one) => pages[one]).filter((one) => one?.of);
    return begun.length ? { seen: begun.filter(isRead), of: inside.length, parts: "pages read" } : undefined;
  }

  function tellLink(link, page) {
    link.querySelector(".progress-words")?.remove();
    delete link.dataset.read;
    if (!page?.of) return;
    link.dataset.read = isRead(page) ? "all" : "some";
    const said = Object.assign(document.createElement("span"), { className: "progress-words visually-hidden" });
    said.textContent = ` (${inWords(page)})`;
    link.append(said);
  }

  function tellFirstPage({ last, pages }) {
    const box = document.querySelector(".continue");
    if (!box) return;
    const [first, note] = box.querySelectorAll("p");
    tellFirstPage.before ??= [[...first.childNodes], [...note.childNodes]];
    const [offer, explain] = tellFirstPage.before;
    const page = pages[last];
    first.replaceChildren(...offer);
    note.replaceChildren(...explain);
    if (!page) return;
    const link = Object.assign(document.createElement("a"), { href: new URL(`${last}.html#${page.at}`, root) });
    link.textContent = `Continue: ${page.title}, “${page.section}”`;
    first.replaceChildren(link);
    const all = Object.values(pages);
    const read = all.filter(isRead).length;
    const forget = Object.assign(document.createElement("button"), { type: "button", textContent: "Forget it" });
    forget.addEventListener("click", () => {
      tell(keep((memory) => Object.assign(memory, { last: undefined, pages: {} })));
      first.querySelector("a")?.focus();
    });
    note.replaceChildren(`Pages begun: ${all.length}, read: ${read}. Kept in this browser alone. `, forget);
  }

  function tell(memory) {
    for (const link of links) tellLink(link, progressOf(named(link), memory.pages));
    tellFirstPage(memory);
  }

  tell(kept());
  addEventListener("storage", ({ key }) => key === KEY && tell(kept())); // another tab
  addEventListener("pageshow", ({ persisted }) => persisted && tell(kept())); // back from another page
  if (sections.length) watch();
})();
