// The page of results: asks MiniSearch for the places of the book's index (searchindex.js) that have the words.
const bookTexts = {}; // the pages' texts, each of which comes as a script of its own
(() => {
  const { patternOf, hitsIn, densest } = bookWords; // of arrive.js
  const FIRST = 12; // results shown at once
  // As _WORD and _BETWEEN in search.py.
  const WORD = /(?!\p{N})[\p{L}\p{N}_]+(?:\.(?!\p{N})[\p{L}\p{N}_]+)*|\p{N}+(?!\p{N})[\p{L}_][\p{L}\p{N}_]*/gu;
  const BETWEEN = /[._]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;
  const STORED = ["title", "text"]; // as FIELDS in search.py
  const FIELDS = [...STORED, "around"]; // the last are the titles of the places that a place is in
  const BOOST = { title: 4, text: 1, around: 0.5 };
  const KIND = { section: 1, exercise: 0.9, question: 0.45, hint: 0.8, prediction: 0.5, answer: 0.6, term: 1.3 };
  const EXACT = 2; // the title is what was asked for
  const PAGE = 1.2; // as a whole
  const CORRECTS = 0.2; // what says of many things how they were told before, and teaches none of them
  const corrects = ({ page, title }) => page === "book/appendix/errata" || title === "What older tutorials say";
  const TYPOS = 0.25; // of a word's letters
  const SAID = { hint: "a folded hint", answer: "a folded answer", prediction: "prediction", term: "", section: "" };

  const stemmer = new Stemmer();
  const stop = new Set(bookIndex.stop);
  const wordsOf = (text) => [...text.matchAll(WORD)].map(([word]) => word);
  const partsOf = (word) => word.split(BETWEEN).filter(Boolean).map((part) => part.toLowerCase());
  const stemsOf = (word) =>
    partsOf(word).flatMap((part) => (part.length > 1 && !stop.has(part) ? stemmer.stemWord(part) : []));
  const isName = (word) => partsOf(word).length > 1;
  // What a name may stand in the index as: with what it belongs to, and without (zero_grad of optimizer.zero_grad).
  const wholesOf = (word) => [word.toLowerCase(), word.split(".").at(-1).toLowerCase()].filter(isWhole);
  const isWhole = (word, at, all) => Object.hasOwn(bookIndex.words, word) && all.indexOf(word) === at && isName(word);

  // ---------- the index ----------

  const places = [];
  for (const [page, count] of bookIndex.pages) {
    const first = places.length;
    for (const [anchor, title, kind, back] of bookIndex.places.slice(first, first + count)) {
      const at = places.length;
      const said = wordsOf(title).flatMap(stemsOf).join(" ");
      const inside = back ? places[at - back] : null;
      places.push({ page, nth: at - first, anchor, title, said, kind: bookIndex.kinds[kind], inside, within: [] });
      for (let outer = inside; outer; outer = outer.inside) outer.within.push(at);
    }
  }

  // A field's places of a word: how often it is in each.
  function counts(steps) {
    let at = -1;
    return Object.fromEntries(steps.map((step) => [(at += step >> 2), (step & 3) + 1]));
  }

  // Of the places that are in one with the word in its title: how often it is in the titles around them.
  function countsAround(titles) {
    const sums = {};
    for (const [at, often] of Object.entries(titles)) {
      for (const inner of places[at].within) sums[inner] = (sums[inner] ?? 0) + often;
    }
    return sums;
  }

  // Word by word, since MiniSearch rests after every thousand of them.
  function* postings() {
    for (const [word, found] of Object.entries(bookIndex.words)) {
      const stored = found.map(counts);
      const fields = [...stored, countsAround(stored[0])].map((sums, field) => [field, sums]);
      yield [word, Object.fromEntries(fields.filter(([, sums]) => Object.keys(sums).length))];
    }
  }

  // How many words each of a place's fields has.
  function lengths() {
    const around = places.map(() => 0);
    for (const [titles] of Object.values(bookIndex.words)) {
      for (const at of Object.keys(countsAround(counts(titles)))) around[at]++;
    }
    return bookIndex.lengths.map((stored, at) => [...stored, around[at]]);
  }

  // What MiniSearch would have written, had it made the index.
  function written() {
    const fieldLengths = lengths();
    const fields = FIELDS.map((_, field) => fieldLengths.map((one) => one[field]));
    return {
      documentCount: places.length,
      nextId: places.length,
      documentIds: Object.fromEntries(places.map((_, at) => [at, at])),
      fieldIds: Object.fromEntries(FIELDS.map((name, field) => [name, field])),
      fieldLength: Object.fromEntries(fieldLengths.entries()),
      averageFieldLength: fields.map((lengths) => lengths.reduce((a, b) => a + b, 0) / places.length),
      storedFields: {},
      dirtCount: 0,
      index: postings(),
      serializationVersion: 2,
    };
  }

  const asGiven = { tokenize: (text) => [text], processTerm: (word) => word };
  const ready = MiniSearch.loadJSAsync(written(), { fields: FIELDS, ...asGiven });

  // ---------- a question to it ----------

  // A name is in a place as a whole, or all its parts are; of one that the book never has, those of what it ends with.
  function queryOf(word, meant) {
    const all = (stems) => ({ combineWith: "AND", queries: stems.map(meant) });
    if (!isName(word)) return all(stemsOf(word));
    const [name] = wholesOf(word);
    const parts = name ? [stemsOf(name)] : [stemsOf(word), stemsOf(word.split(".").at(-1))];
    const queries = parts.filter((stems) => stems.length).map(all);
    return { combineWith: "OR", queries: name ? [name, ...queries] : queries };
  }

  const hasIt = (match, word) => match[word]?.some((field) => field !== "around");
  const hasItself = ({ match }) => Object.keys(match).some((word) => hasIt(match, word));

  // Steps from a word to another: a letter more, less or other, or two that changed places.
  function distance(a, b) {
    let [before, last] = [[], [...Array(b.length + 1).keys()]];
    for (let i = 1; i <= a.length; i++) {
      const row = [i];
      for (let j = 1; j <= b.length; j++) {
        row[j] = Math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] !== b[j - 1]));
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], before[j - 2] + 1);
      }
      [before, last] = [last, row];
    }
    return last[b.length];
  }

  const placesWith = (word) => bookIndex.words[word].reduce((sum, steps) => sum + steps.length, 0);

  // The word of the book that a misspelt one is nearest to, of several the most frequent; itself if the book has it.
  function spelt(stem) {
    if (Object.hasOwn(bookIndex.words, stem)) return stem;
    let [best, least, most] = [stem, Math.max(1, Math.round(TYPOS * stem.length)) + 1, 0];
    for (const word of Object.keys(bookIndex.words)) {
      if (Math.abs(word.length - stem.length) >= least + 1 || /[._]/.test(word)) continue;
      const steps = distance(stem, word) + (word[0] === stem[0] ? 0 : 0.5);
      if (steps < least || (steps === least && placesWith(word) > most)) [best, least, most] = [word, steps, placesWith(word)];
    }
    return best;
  }

  // Places with the names that were asked for, then those with their parts; of each kind the best first.
  function ask(index, asked, { meant = (stem) => stem, ...options } = {}) {
    const whole = asked.flatMap(stemsOf).map(meant).join(" ");
    const weigh = (place) =>
      KIND[place.kind] *
      (place.said === whole ? EXACT : 1) *
      (place.inside ? 1 : PAGE) *
      (corrects(place) ? CORRECTS : 1);
    const names = asked.map(wholesOf).filter((wholes) => wholes.length);
    const named = ({ id, match }) =>
      places[id].said === whole || names.every((wholes) => wholes.some((word) => hasIt(match, word)));
    const found = index.search(
      { queries: asked.map((word) => queryOf(word, meant)) },
      {
        combineWith: "AND",
        boost: BOOST,
        boostDocument: (at) => weigh(places[at]),
        prefix: (word) => word.length > 2,
        filter: hasItself,
        ...options,
      },
    );
    return names.length ? found.sort((a, b) => named(b) - named(a) || b.score - a.score) : found;
  }

  // The words of the book that a place was found by, none of which another of them begins with; whole names first.
  function foundBy({ match }) {
    const words = Object.keys(match).filter((word) => hasIt(match, word));
    const kept = words.filter((word) => isName(word) || !words.some((other) => other !== word && word.startsWith(other)));
    return kept.sort((a, b) => b.length - a.length);
  }

  // The places with all words, best first; if there is none, those with words like them, then those with one of them.
  async function search(query) {
    const asked = [...new Set(wordsOf(query))].filter((word) => stemsOf(word).length);
    if (!asked.length) return { asked, found: [] };
    const index = await ready;
    for (const [how, options] of [
      ["all", {}],
      ["like", { meant: spelt }],
      ["some", { combineWith: "OR" }],
    ]) {
      const found = ask(index, asked, options).map((one) => ({ place: places[one.id], words: foundBy(one) }));
      if (found.length) return { asked, found, how };
    }
    return { asked, found: [] };
  }

  // ---------- what is shown ----------

  const root = document.documentElement.dataset.content_root ?? "./";
  const make = (tag, className, ...content) => {
    const made = Object.assign(document.createElement(tag), { className });
    made.append(...content);
    return made;
  };

  function addressOf(place, words) {
    return `${root}${place.page}.html?find=${encodeURIComponent(words.join(" "))}#${place.anchor}`;
  }

  function whereIs(place) {
    const chain = [];
    for (let at = place.inside; at; at = at.inside) chain.unshift(at.title);
    return [chain.join(" › "), SAID[place.kind] ?? place.kind].filter(Boolean).join(" · ");
  }

  const BEFORE = 70; // characters of an excerpt: before its first hit, in all
  const LENGTH = 240;

  function excerpt(text, pattern) {
    const hits = hitsIn(text, pattern);
    const at = densest(hits, LENGTH - BEFORE)?.index ?? 0;
    const start = at < BEFORE ? 0 : text.indexOf(" ", at - BEFORE) + 1;
    const end = text.length <= start + LENGTH ? text.length : text.lastIndexOf(" ", start + LENGTH);
    const parts = [start ? "… " : ""];
    let last = start;
    for (const { word, index } of hits.filter((hit) => hit.index >= start && hit.index + hit.word.length <= end)) {
      parts.push(text.slice(last, index), make("mark", "", word));
      last = index + word.length;
    }
    return [...parts, text.slice(last, end), end < text.length ? " …" : ""];
  }

  const loading = new Map();
  function textsOf(page) {
    if (!loading.has(page)) {
      const script = document.createElement("script");
      script.src = `${root}_static/search/${page.replaceAll("/", ".")}.js?v=${bookIndex.edition}`;
      loading.set(page, new Promise((done) => (script.onload = script.onerror = done)));
      document.head.append(script);
    }
    return loading.get(page).then(() => bookTexts[page] ?? []);
  }

  function item({ place, words }) {
    const link = make("a", "", place.title);
    link.href = addressOf(place, words);
    const said = make("p", "excerpt");
    const shown = make("li", "", link, make("p", "where", whereIs(place)), said);
    shown.dataset.kind = place.kind;
    textsOf(place.page).then((texts) => {
      if (texts[place.nth]) said.append(...excerpt(texts[place.nth], patternOf(words)));
    });
    return shown;
  }

  const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

  function summary({ asked, found, how }) {
    if (!asked.length) return "Numbers, signs and words such as “the” are everywhere: ask for others.";
    if (!found.length) return "Nothing in the book has these words.";
    const pages = count(new Set(found.map(({ place }) => place.page)).size, "page");
    const where = `${count(found.length, "place")} on ${pages}`;
    const [these, them] = asked.length > 1 ? ["all of these words", "words like them"] : ["this word", "a word like it"];
    if (how === "like") return `No place has ${these}; ${where} with ${them}.`;
    return how === "some" ? `No place has all of these words; ${where} with some of them.` : `${where}.`;
  }

  const out = document.getElementById("search-results");
  const status = make("p", "search-summary");
  status.setAttribute("role", "status");
  const list = make("ol", "search");
  const more = make("button", "btn", "Show all");
  more.type = "button";
  more.hidden = true;
  out.append(status, list, more);

  async function show(query) {
    const answer = query.trim() ? await search(query) : null;
    if (query !== field.value) return; // another was asked meanwhile
    status.textContent = answer ? summary(answer) : "";
    list.replaceChildren(...(answer?.found.slice(0, FIRST).map(item) ?? []));
    more.hidden = !answer || answer.found.length <= FIRST;
    more.onclick = () => {
      const rest = answer.found.slice(FIRST).map(item);
      more.hidden = true;
      list.append(...rest);
      rest[0].querySelector("a").focus();
    };
  }

  const field = document.querySelector(".bd-article-container input[name='q']");
  let timer = 0;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      const address = new URL(location);
      address.searchParams.set("q", field.value);
      try {
        history.replaceState(null, "", address);
      } catch {
        // A file may not change its address everywhere; the results come all the same.
      }
      show(field.value);
    }, 200);
  });
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  field.focus();
  show(field.value);
})();
