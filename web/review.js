// The review deck: asks the book's predictions, questions and hunts again, each when it is due (SM-2, P. Wozniak 1990).
(() => {
  const deck = document.querySelector(".deck");
  const DAY = 864e5;
  const SOON = 6e5; // ms until a card that was missed comes again
  const root = new URL(document.documentElement.dataset.content_root ?? "./", location.href);
  const DECK = `torchbook:deck:${root.pathname}`; // when cards are due; answers and reading are kept by their own scripts
  const READING = `torchbook:reading:${root.pathname}`; // of progress.js
  const SOLVED = "torchbook:solved"; // of activities.js

  function kept(key, otherwise) {
    try {
      return JSON.parse(localStorage.getItem(key)) ?? otherwise;
    } catch {
      return otherwise;
    }
  }

  function keep(key, value) {
    try {
      localStorage.setItem(key, JSON.stringify(value));
    } catch {
      // Private browsing, or storage is full: the deck works, it only forgets.
    }
  }

  const memory = { all: false, cards: {}, ...kept(DECK, {}) };

  // ---------- when a card comes again ----------

  const GRADES = { Again: 1, Hard: 3, Good: 4, Easy: 5 };

  function graded({ ease = 2.5, times = 0, days = 0 } = {}, grade, now) {
    const next = Math.max(1.3, ease + 0.1 - (5 - grade) * (0.08 + (5 - grade) * 0.02));
    if (grade < 3) return { ease: next, times: 0, days: 0, due: now + SOON, seen: now };
    const after = times === 0 ? 1 : times === 1 ? 6 : Math.round(days * ease);
    return { ease: next, times: times + 1, days: after, due: now + after * DAY, seen: now };
  }

  // ---------- which cards there are ----------

  const loading = new Map();
  function cardsOf(page) {
    if (!loading.has(page)) {
      const script = document.createElement("script");
      script.src = new URL(`_static/deck/${page.replaceAll("/", ".")}.js`, root);
      loading.set(page, new Promise((done) => (script.onload = script.onerror = done)));
      document.head.append(script);
    }
    return loading.get(page).then(() =>
      (bookCards[page] ?? []).map(([name, kind, html, spoils]) => ({ name, kind, html, spoils, page })),
    );
  }

  const met = (page) => memory.all || Boolean(kept(READING, {}).pages?.[page]?.seen?.length);
  const isOpen = ({ page, spoils }, solved) => (spoils ? memory.all || solved.has(spoils) : met(page));

  // Hunts stand on a page of their own, and are met with their exercise.
  async function chosen(only) {
    const solved = new Set(kept(SOLVED, []));
    const pages = bookDeck.filter(([page]) => (!only || page === only) && (met(page) || /\/hunts$/.test(page)));
    const cards = (await Promise.all(pages.map(([page]) => cardsOf(page)))).flat();
    return cards.filter((card) => isOpen(card, solved));
  }

  const dueOf = ({ name }) => memory.cards[name]?.due;
  const isDue = (card) => dueOf(card) <= Date.now();
  const isNew = (card) => dueOf(card) === undefined;

  // ---------- what is on the page ----------

  const make = (tag, fields = {}, ...content) => {
    const made = Object.assign(document.createElement(tag), fields);
    made.append(...content);
    return made;
  };
  const button = (text, press) => {
    const made = make("button", { type: "button", className: "btn", textContent: text });
    made.addEventListener("click", press);
    return made;
  };

  const status = make("p", { className: "deck-status" });
  status.setAttribute("role", "status");
  const pick = make("select", { id: "deck-page" });
  const all = make("input", { type: "checkbox", checked: memory.all });
  const card = make("div", { className: "deck-card" });
  const start = button("Start", () => ask());
  const file = make("input", { type: "file", accept: ".json,application/json", className: "visually-hidden", tabIndex: -1 });
  file.setAttribute("aria-label", "A file of progress");

  async function tell() {
    const cards = await chosen(pick.value);
    const [due, fresh] = [cards.filter(isDue).length, cards.filter(isNew).length];
    start.disabled = !due && !fresh;
    const next = cards.map(dueOf).filter((time) => time > Date.now()).sort((a, b) => a - b)[0];
    const later = next ? ` The next is due ${new Date(next).toLocaleString()}.` : "";
    const none = "No page of the book is begun in this browser: read some first, or take all pages.";
    status.textContent = cards.length ? `${due} due, ${fresh} new, of ${cards.length} cards.${due || fresh ? "" : later}` : none;
  }

  async function list() {
    const before = pick.value;
    const cards = Map.groupBy ? Map.groupBy(await chosen(""), ({ page }) => page) : new Map();
    const options = bookDeck
      .filter(([page]) => cards.has(page))
      .map(([page, title]) => {
        const own = cards.get(page);
        return make("option", { value: page }, `${title}: ${own.filter(isDue).length} due, ${own.filter(isNew).length} new`);
      });
    pick.replaceChildren(make("option", { value: "" }, "All chapters"), ...options);
    pick.value = before;
    if (pick.selectedIndex < 0) pick.value = "";
    await tell();
  }

  // The cards that are due, the longest first, then the new ones in the order of the book.
  async function ask() {
    const cards = await chosen(pick.value);
    const due = cards.filter(isDue).sort((a, b) => dueOf(a) - dueOf(b));
    const [next] = [...due, ...cards.filter(isNew)];
    card.replaceChildren();
    await list();
    if (next) show(next);
    else start.focus();
  }

  function show(one) {
    const body = make("div", { className: "prediction", innerHTML: one.html });
    for (const link of body.querySelectorAll("[data-from-root]")) {
      const name = link.hasAttribute("href") ? "href" : "src";
      link.setAttribute(name, new URL(link.getAttribute(name), root));
    }
    const fieldset = body.querySelector("fieldset");
    const radios = [...fieldset.querySelectorAll('input[type="radio"]')];
    radios.forEach((radio, at) => Object.assign(radio, { name: "deck", checked: false, value: radio.value || String(at) }));
    const typed = fieldset.querySelector('input[type="text"]');
    fieldset.querySelectorAll("button").forEach((old) => old.remove());
    const answer = fieldset.querySelector("details");
    answer.hidden = true;
    const [, title] = bookDeck.find(([page]) => page === one.page);
    const grades = make("p", { className: "deck-grades" });
    const settle = (right) => {
      if (grades.childElementCount) return;
      answer.hidden = false;
      answer.open = true;
      [...radios, typed].forEach((input) => input && (input.disabled = true));
      const names = right === false ? ["Again"] : Object.keys(GRADES);
      grades.append(...names.map((name, at) => button(`${at + 1} ${name}`, () => grade(one, GRADES[name]))));
      grades.children[right === false ? 0 : 2].focus();
    };
    const verdict = fieldset.querySelector(".verdict");
    fieldset.addEventListener("change", ({ target }) => {
      if (!radios.includes(target)) return;
      const right = target.hasAttribute("data-right");
      verdict.textContent = right ? "Right. How hard was it?" : "Not this one — the answer is below.";
      target.closest("label").dataset.state = verdict.dataset.state = right ? "right" : "wrong";
      settle(right);
    });
    fieldset.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (!radios.includes(event.target) || !(step || event.key === "Enter")) return;
      event.preventDefault();
      if (step) radios.at((radios.indexOf(event.target) + step) % radios.length).focus();
      else event.target.click();
    });
    if (!radios.length) answer.before(button("Show the answer", () => settle()));
    card.replaceChildren(make("p", { className: "deck-from" }, title), body, grades);
    window.MathJax?.typesetPromise?.([...body.querySelectorAll(".math")]);
    (radios[0] ?? typed).focus();
  }

  function grade(one, grade) {
    memory.cards[one.name] = graded(memory.cards[one.name], grade, Date.now());
    keep(DECK, memory);
    ask();
  }

  // Digits choose an option, then a grade.
  card.addEventListener("keydown", (event) => {
    if (!/^[1-9]$/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey || event.target.type === "text") return;
    const grades = [...card.querySelectorAll(".deck-grades button")];
    const choices = grades.length ? grades : [...card.querySelectorAll("fieldset input:not(:disabled)")];
    choices[Number(event.key) - 1]?.click();
  });

  // ---------- out and in ----------

  function save(name, type, text) {
    const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // Keys hold where the site lies; a file of progress holds $ instead, and so fits a copy of it elsewhere.
  function everything() {
    const keys = Object.keys(localStorage).filter((key) => key.startsWith("torchbook:"));
    return Object.fromEntries(keys.map((key) => [key.replace(root.pathname, "$/"), kept(key, null)]));
  }

  // The later of two schedules, the union of what was done; where both have an answer, the one of this browser stays.
  function merged(mine, theirs) {
    if (Array.isArray(mine) && Array.isArray(theirs)) return [...new Set([...mine, ...theirs])];
    if (mine?.constructor !== Object || theirs?.constructor !== Object) return mine ?? theirs;
    if ("seen" in mine && "due" in mine) return theirs.seen > mine.seen ? theirs : mine;
    const keys = new Set([...Object.keys(mine), ...Object.keys(theirs)]);
    return Object.fromEntries([...keys].map((key) => [key, merged(mine[key], theirs[key])]));
  }

  async function load() {
    try {
      const { format, progress } = JSON.parse(await file.files[0].text());
      if (format !== "torchbook progress 1" || progress?.constructor !== Object) throw new Error();
      for (const [key, value] of Object.entries(progress)) {
        const name = key.replace("$/", root.pathname);
        if (name.startsWith("torchbook:")) keep(name, merged(kept(name, null), value));
      }
      Object.assign(memory, kept(DECK, {}));
      await list();
      status.textContent += " The file was added to what this browser had.";
    } catch {
      status.textContent = `${file.files[0].name} is no file of progress of this book; nothing was changed.`;
    }
    file.value = "";
  }

  const cell = (html) => html.replace(/\t/g, "    ").replace(/<pre>.*?<\/pre>/gs, (pre) => pre.replace(/\n/g, "<br>")).replace(/\s*\n\s*/g, " ");

  // As https://docs.ankiweb.net/importing/text-files.html has it.
  function note(one) {
    const body = make("div", { innerHTML: one.html });
    const own = (selector) => [...body.querySelectorAll(selector)];
    own("[href][data-from-root]").forEach((link) => link.setAttribute("href", new URL(link.getAttribute("href"), root)));
    const program = own(":scope > :not(fieldset)").map((part) => part.outerHTML).join("");
    const options = own("label:not(.not-sure)").map((label) => `<li>${label.querySelector("span").innerHTML}</li>`);
    const answer = own("details > :not(summary)").map((part) => part.outerHTML).join("");
    const front = `${program}<p>${own("legend")[0].innerHTML}</p>${options.length ? `<ul>${options.join("")}</ul>` : ""}`;
    const [, title] = bookDeck.find(([page]) => page === one.page);
    const subject = `PyTorch Inside Out::${title.replaceAll("::", ":")}`;
    return [one.name, subject, one.kind, front, answer].map(cell).join("\t");
  }

  const HEAD = ["#separator:tab", "#html:true", "#guid column:1", "#deck column:2", "#tags column:3", "#notetype:Basic"];

  async function anki() {
    const notes = (await chosen(pick.value)).map(note);
    save("pytorch-inside-out.txt", "text/plain", [...HEAD, ...notes].join("\n") + "\n");
    status.textContent = `${notes.length} cards for Anki.`;
  }

  all.addEventListener("change", () => {
    memory.all = all.checked;
    keep(DECK, memory);
    list();
  });
  pick.addEventListener("change", tell);
  file.addEventListener("change", load);
  const progress = () => JSON.stringify({ format: "torchbook progress 1", progress: everything() });
  deck.append(
    make("p", {}, make("label", {}, "Chapter ", pick), " ", start),
    make("p", {}, make("label", {}, all, " Also pages that I have not begun, and hunts of exercises that I have not solved")),
    status,
    card,
    make(
      "p",
      { className: "deck-files" },
      button("Save my progress", () => save("torchbook-progress.json", "application/json", progress())),
      button("Add saved progress", () => file.click()),
      button("Cards for Anki", anki),
      file,
    ),
  );
  list();
})();
