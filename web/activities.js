// What the reader does on a page: predictions, quizzes, checklists, exercises, and a few keys. It stays in this browser.
(() => {
  // ---------- memory: one entry a page; a browser that refuses is no reason to fail ----------

  const key = `torchbook:${location.pathname}`;

  function remembered() {
    try {
      return { chosen: {}, done: [], ...JSON.parse(localStorage.getItem(key)) };
    } catch {
      return { chosen: {}, done: [] };
    }
  }

  function remember(change) {
    const memory = remembered();
    change(memory);
    try {
      localStorage.setItem(key, JSON.stringify(memory));
    } catch {
      // Private browsing, or storage is full: the page works, it only forgets.
    }
  }

  const words = (element) => element.textContent.replace(/\s+/g, " ").trim();

  // Taken before MathJax rewrites the formulas, so that they are the same on the next visit.
  const named = (elements) => new Map([...elements].map((element) => [element, words(element)]));

  // ---------- predictions ----------

  function judge(fieldset, radio) {
    const right = radio.hasAttribute("data-right");
    const state = right ? "right" : "wrong";
    const verdict = fieldset.querySelector(".verdict");
    verdict.textContent = right ? "Right." : "Not this one — the answer is below.";
    verdict.dataset.state = state;
    fieldset.querySelectorAll("label").forEach((label) => delete label.dataset.state);
    radio.closest("label").dataset.state = state;
    fieldset.querySelector("details").open = true;
  }

  // Arrows only move, so that looking through the options is not already an answer; Space or Enter chooses.
  function moveAmong(radios, event) {
    const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (event.key === "Enter") event.target.click();
    if (step) radios.at((radios.indexOf(event.target) + step) % radios.length).focus();
    if (step || event.key === "Enter") event.preventDefault();
  }

  function startPrediction(fieldset, memory) {
    const question = words(fieldset.querySelector("legend"));
    const radios = [...fieldset.querySelectorAll('input[type="radio"]')];
    const options = named(radios.map((radio) => radio.closest("label")));
    const nameOf = (radio) => options.get(radio.closest("label"));
    fieldset.addEventListener("change", ({ target }) => {
      if (!radios.includes(target)) return;
      remember(({ chosen }) => (chosen[question] = nameOf(target)));
      // A picture may show the answer first, and have it told when it is done.
      const detail = () => judge(fieldset, target);
      if (fieldset.dispatchEvent(new CustomEvent("predicted", { cancelable: true, detail }))) detail();
    });
    fieldset.addEventListener("keydown", (event) => radios.includes(event.target) && moveAmong(radios, event));
    radios.forEach((radio) => (radio.checked = false)); // a reload may have kept what the memory does not
    const before = radios.find((radio) => nameOf(radio) === memory.chosen[question]);
    if (before) {
      before.checked = true;
      judge(fieldset, before);
    }
  }

  // ---------- quizzes: a self-test also has a result, by topic ----------

  const NOT_SURE = "?";
  const LEADS = { right: "Right.", wrong: "Not this one.", unsure: "Not sure yet." };

  const paragraph = (...content) => {
    const made = document.createElement("p");
    made.append(...content);
    return made;
  };
  const copies = (element) => [...(element?.childNodes ?? [])].map((node) => node.cloneNode(true));

  // Says how an answer is, and why, in the words of the folded answer; to one who is not sure it says the answer.
  function tellWhy(fieldset, state, reason) {
    const verdict = fieldset.querySelector(".verdict");
    const answer = state === "unsure" ? [paragraph(...copies(reason?.previousElementSibling))] : [];
    verdict.replaceChildren(paragraph(LEADS[state]), ...answer, ...copies(reason));
    fieldset.dataset.state = verdict.dataset.state = state;
  }

  function forget(fieldset) {
    const verdict = fieldset.querySelector(".verdict");
    verdict.replaceChildren();
    [fieldset, verdict, ...fieldset.querySelectorAll("label")].forEach((one) => delete one.dataset.state);
    fieldset.querySelectorAll('input[type="radio"]').forEach((radio) => (radio.checked = false));
    fieldset.querySelectorAll('input[type="text"]').forEach((field) => (field.value = ""));
    fieldset.querySelector("details").open = false;
  }

  function startChoice(fieldset, keep) {
    const radios = [...fieldset.querySelectorAll('input[type="radio"]')];
    const answer = radios.find((radio) => radio.hasAttribute("data-right"));
    const judgeQuiz = (radio) => {
      const unsure = radio.value === NOT_SURE;
      const state = unsure ? "unsure" : radio === answer ? "right" : "wrong";
      fieldset.querySelectorAll("label").forEach((one) => delete one.dataset.state);
      radio.closest("label").dataset.state = state;
      tellWhy(fieldset, state, fieldset.querySelector(`dd[data-option="${(unsure ? answer : radio).value}"]`));
    };
    fieldset.addEventListener("keydown", (event) => radios.includes(event.target) && moveAmong(radios, event));
    fieldset.addEventListener("change", ({ target }) => {
      judgeQuiz(target);
      keep(target.value);
    });
    return (kept) => {
      const before = radios.find((radio) => radio.value === kept);
      if (!before) return;
      before.checked = true;
      judgeQuiz(before);
    };
  }

  // As Python's re.fullmatch with IGNORECASE; the build admits only patterns that both read alike.
  const matches = (pattern, answer) => new RegExp(`^(?:${pattern})$`, "i").test(answer);

  function startTyped(fieldset, keep) {
    const field = fieldset.querySelector('input[type="text"]');
    const accept = JSON.parse(fieldset.dataset.accept);
    const judgeTyped = (answer) => {
      const unsure = answer === NOT_SURE;
      const right = accept.some((pattern) => matches(pattern, answer));
      const tempting = [...fieldset.querySelectorAll("dd[data-match]")];
      const reason = tempting.find((one) => matches(one.dataset.match, answer));
      const state = unsure ? "unsure" : right ? "right" : "wrong";
      tellWhy(fieldset, state, unsure || right ? fieldset.querySelector('dd[data-option="right"]') : reason);
    };
    const check = () => {
      if (!field.value.trim()) return field.focus();
      judgeTyped(field.value.trim());
      keep(field.value.trim());
    };
    fieldset.querySelector("button").addEventListener("click", check);
    fieldset.querySelector("button.not-sure")?.addEventListener("click", () => {
      field.value = NOT_SURE;
      check();
    });
    field.addEventListener("keydown", (event) => event.key === "Enter" && check());
    return (kept) => {
      if (!kept) return;
      field.value = kept;
      judgeTyped(kept);
    };
  }

  // Writes into the list of what to read how much was known, and folds away what was.
  function tellResult(result, questions) {
    const inState = (some, state) => some.filter((one) => (one.dataset.state ?? "open") === state).length;
    const missedOf = (some) => inState(some, "wrong") + inState(some, "unsure");
    for (const row of result.querySelectorAll("[data-topic]")) {
      const about = questions.filter((one) => one.dataset.about === row.dataset.topic);
      const open = inState(about, "open");
      const known = `${inState(about, "right")} of ${about.length} right`;
      const some = open ? `${known}, ${open} open` : known;
      row.querySelector(".known").textContent = open === about.length ? "not answered" : some;
      row.querySelector(".readings").hidden = !missedOf(about);
    }
    const [open, missed] = [inState(questions, "open"), missedOf(questions)];
    const all = `${questions.length - open} of ${questions.length} answered, ${inState(questions, "right")} right.`;
    result.querySelector('[role="status"]').textContent =
      open === questions.length
        ? "Nothing is answered yet. Here will be, by topic, how much was right, and what to read where something was not."
        : `${all} ${missed ? "What to read stands below each topic with a miss." : "Nothing to read up so far."}`;
  }

  function startQuiz(quiz, memory, solved) {
    const questions = [...quiz.querySelectorAll("fieldset[data-question]")];
    const result = quiz.querySelector(".result");
    const tell = () => result && tellResult(result, questions);
    for (const fieldset of questions) {
      const name = fieldset.dataset.question;
      const keep = (answer) => {
        remember(({ chosen }) => (chosen[name] = answer));
        tell();
        if (questions.every((one) => one.dataset.state === "right")) solved();
      };
      const restore = (fieldset.dataset.accept ? startTyped : startChoice)(fieldset, keep);
      forget(fieldset); // a reload may have kept what the memory does not
      restore(memory.chosen[name]);
    }
    result?.querySelector("button").addEventListener("click", () => {
      remember(({ chosen }) => questions.forEach((one) => delete chosen[one.dataset.question]));
      questions.forEach(forget);
      tell();
      questions[0].querySelector("input").focus();
    });
    tell();
    quiz.dataset.live = "";
  }

  // ---------- exercises: solved or not is kept by id, so that it outlives a move to another page ----------

  const SOLVED = "torchbook:solved";

  function solvedOnes() {
    try {
      return new Set(JSON.parse(localStorage.getItem(SOLVED)) ?? []);
    } catch {
      return new Set();
    }
  }

  function markSolved(name, now) {
    const all = solvedOnes();
    if (now) all.add(name);
    else all.delete(name);
    try {
      localStorage.setItem(SOLVED, JSON.stringify([...all]));
    } catch {
      // As above: the page works, it only forgets.
    }
  }

  function startExercise(block, memory) {
    const box = Object.assign(document.createElement("input"), { type: "checkbox" });
    const tick = (now) => {
      box.checked = now;
      block.toggleAttribute("data-solved", now);
    };
    const label = document.createElement("label");
    label.className = "exercise-solved";
    label.append(box, "Solved");
    block.querySelector(".exercise-facts").append(label);
    box.addEventListener("change", () => {
      tick(box.checked);
      markSolved(block.id, box.checked);
    });
    tick(solvedOnes().has(block.id));
    const quiz = block.querySelector(".quiz");
    const solved = () => {
      tick(true);
      markSolved(block.id, true);
    };
    if (quiz) startQuiz(quiz, memory, solved);
  }

  // ---------- checklists ----------

  function tickable(item, done) {
    const text = item.querySelector(":scope > p") ?? item;
    const label = document.createElement("label");
    const box = Object.assign(document.createElement("input"), { type: "checkbox", checked: done });
    const span = document.createElement("span");
    span.append(...text.childNodes);
    label.append(box, span);
    text.append(label);
    return box;
  }

  function startChecklist(list, memory) {
    const items = named(list.querySelectorAll(":scope > ul > li"));
    const boxes = new Map([...items].map(([item, name]) => [tickable(item, memory.done.includes(name)), name]));
    const count = document.createElement("p");
    count.className = "count";
    count.setAttribute("role", "status");
    const tell = () => {
      const ticked = [...boxes.keys()].filter((box) => box.checked).length;
      count.textContent = `${ticked} of ${boxes.size} done`;
    };
    list.append(count);
    list.dataset.live = "";
    list.addEventListener("change", ({ target }) => {
      const name = boxes.get(target);
      remember((kept) => {
        kept.done = kept.done.filter((one) => one !== name);
        if (target.checked) kept.done.push(name);
      });
      tell();
    });
    tell();
  }

  // ---------- the timeline: weeks at the reader's own pace ----------

  const PACE = "torchbook:pace";

  function keptPace() {
    try {
      return Number(localStorage.getItem(PACE)) || 0;
    } catch {
      return 0;
    }
  }

  function startTimeline(timeline) {
    const weeks = [...timeline.querySelectorAll("[data-hours]")];
    const pace = Object.assign(document.createElement("input"), { type: "number", min: 1, max: 80 });
    pace.value = keptPace() || timeline.dataset.pace;
    const label = document.createElement("label");
    label.className = "pace";
    label.append("Hours a week ", pace);
    const count = () => {
      const hours = Number(pace.value);
      if (!(hours >= 1 && hours <= 80)) return;
      // As week_of in course_map.py.
      for (const week of weeks) week.textContent = Math.max(1, Math.ceil(week.dataset.hours / hours - 1e-9));
      try {
        localStorage.setItem(PACE, String(hours));
      } catch {
        // As above: the page works, it only forgets.
      }
    };
    pace.addEventListener("input", count);
    timeline.prepend(label);
    count();
  }

  // ---------- keys ----------

  const KEYS_OFF = "torchbook:keys-off";
  const taken = "input, textarea, select, button, summary, dialog, [contenteditable], .viz-mount";
  const pressed = ["radio", "checkbox", "range", "button", "submit", "reset", "file", "color"]; // take no letters
  const typing = `input${pressed.map((type) => `:not([type="${type}"])`).join("")}, textarea, select, [contenteditable]`;

  const keysOff = () => {
    try {
      return localStorage.getItem(KEYS_OFF) === "1";
    } catch {
      return false;
    }
  };

  function turnKeys(off) {
    try {
      localStorage.setItem(KEYS_OFF, off ? "1" : "0");
    } catch {
      // The switch then lasts for this page only.
    }
  }

  const turnTo = (rel) => document.querySelector(`head link[rel="${rel}"]`)?.href;

  const linkToReport = () =>
    document.querySelector(".report-chip:not([hidden])") ?? document.querySelector(".report-link"); // as in share.js

  function act(key) {
    const address = { n: turnTo("next"), p: turnTo("prev") }[key];
    if (address) location.href = address;
    if (key === "/") openSearch();
    if (key === "?") document.getElementById("keys").showModal();
    if (key === "w") linkToReport()?.focus();
    return Boolean(address) || ["/", "?", "w"].includes(key);
  }

  function openSearch() {
    const field = document.querySelector(".bd-article-container input[type='search']");
    if (field) field.focus();
    else document.querySelector(".search-button__button")?.click();
  }

  // The switch stands at the page's foot and in the list of keys: single keys may be in the way of speech input.
  function keySwitches() {
    let off = keysOff();
    const all = [];
    const say = () => all.forEach((tell) => tell());
    const make = (on) => {
      const line = document.createElement("p");
      const toggle = Object.assign(document.createElement("button"), { type: "button" });
      line.append("", toggle);
      all.push(() => {
        line.firstChild.textContent = off ? "Keys are off. " : on;
        toggle.textContent = off ? "Turn on" : "Turn off";
      });
      toggle.addEventListener("click", () => {
        off = !off;
        turnKeys(off);
        say();
      });
      say();
      return line;
    };
    return { make, off: () => off };
  }

  const KEYS = `
    <h2 id="keys-title">Keys</h2>
    <dl>
      <dt><kbd>/</kbd></dt><dd>search the book</dd>
      <dt><kbd>n</kbd> <kbd>p</kbd></dt><dd>next page, previous page</dd>
      <dt><kbd>w</kbd></dt><dd>to the link that reports what is wrong, with the selected words; Enter opens the form</dd>
      <dt><kbd>?</kbd></dt><dd>this list</dd>
      <dt><kbd>Esc</kbd></dt><dd>close a card or a list; after a search, unmark its words</dd>
    </dl>
    <p>In a prediction, arrow keys move and Space chooses. In a figure, Tab goes from one group to the next, arrow keys,
    Home and End move within a group, Enter or Space presses; of the keys above only ? does something there.</p>`;

  function keyList(line) {
    const dialog = Object.assign(document.createElement("dialog"), { id: "keys", innerHTML: KEYS });
    dialog.setAttribute("aria-labelledby", "keys-title");
    const close = Object.assign(document.createElement("button"), { type: "button", textContent: "Close" });
    close.autofocus = true;
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", ({ target }) => target === dialog && dialog.close());
    dialog.append(line, close);
    document.body.append(dialog);
  }

  function startKeys() {
    const switches = keySwitches();
    const take = (event) => {
      if (switches.off() || event.defaultPrevented || event.isComposing) return;
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const [target] = event.composedPath(); // also of what stands in a figure's shadow
      if (target.closest?.(typing) || (event.key !== "?" && event.target.closest?.(taken))) return;
      if (document.querySelector("dialog[open]")) return;
      if (act(event.key)) event.preventDefault();
    };
    // On its way down, since figures keep keys to themselves; none has a use for this one.
    document.addEventListener("keydown", (event) => event.key === "?" && take(event), true);
    document.addEventListener("keydown", (event) => event.key !== "?" && take(event));
    keyList(switches.make("Keys are on. "));
    const footer = document.querySelector(".bd-footer-content__inner");
    if (!footer) return;
    const line = switches.make("Keys: / searches, n is the next page, p the previous, ? lists all. ");
    line.className = "keys footer-item";
    footer.append(line);
  }

  // The theme lets the keyboard reach blocks that scroll, but looks only at what is shown when the window is sized.
  document.addEventListener("toggle", () => dispatchEvent(new Event("resize")), true);

  const memory = remembered();
  document.querySelectorAll(".prediction > fieldset").forEach((fieldset) => startPrediction(fieldset, memory));
  document.querySelectorAll(".checklist").forEach((list) => startChecklist(list, memory));
  document.querySelectorAll("section.exercise").forEach((block) => startExercise(block, memory));
  document.querySelectorAll(".timeline").forEach(startTimeline);
  startKeys();
})();
