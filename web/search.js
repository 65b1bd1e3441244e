// The page of results: ranks the places of the book's index (searchindex.js) that have the words asked for.
const bookTexts = {}; // the pages' texts, each of which comes as a script of its own
(() => {
  const { patternOf, hitsIn, densest } = bookWords; // of arrive.js
  const FIRST = 12; // results shown at once
  // As _WORD in search.py.
  const WORD = /(?!\p{N})[\p{L}\p{N}_]+(?:\.(?!\p{N})[\p{L}\p{N}_]+)*|\p{N}+(?!\p{N})[\p{L}_][\p{L}\p{N}_]*/gu;
  // What a word counts in a place: in its title, in a title that is a whole sentence, around it, often, anywhere.
  const SCORE = { title: 5, sentence: 2.5, around: 1, often: 1.6, once: 1 };
  const SENTENCES = new Set(["question", "prediction", "hint"]);
  // What a word of the book counts that is not the very word asked for: it begins so, it contains it.
  const LIKE = { begins: 0.5, contains: 0.25 };
  const KIND = { section: 1, exercise: 0.9, question: 0.7, hint: 0.8, prediction: 0.8, answer: 0.7, term: 1.3 };
  const SAID = { hint: "a folded hint", answer: "a folded answer", prediction: "prediction", term: "", section: "" };

  const stemmer = new Stemmer();
  const stop = new Set(bookIndex.stop);
  const wordsOf = (text) => [...text.toLowerCase().matchAll(WORD)].map(([word]) => word);
  const partsOf = (word) => word.split(".").filter((part) => part.length > 1 && !stop.has(part));
  const stems = (text) => wordsOf(text).flatMap(partsOf).map((part) => stemmer.stemWord(part));
  const dotted = (text) => wordsOf(text).filter((word) => word.includes("."));

  // ---------- the index ----------

  const places = [];
  for (const [page, count] of bookIndex.pages) {
    const first = places.length;
    for (const [anchor, title, kind, back] of bookIndex.places.slice(first, first + count)) {
      const at = places.length;
      const inside = back ? places[at - back] : null;
      const titled = new Set([...stems(title), ...dotted(title)]);
      places.push({ at, page, nth: at - first, anchor, title, titled, kind: bookIndex.kinds[kind], inside });
    }
  }
  const vocabulary = Object.keys(bookIndex.words);
  const titles = new Map(); // word -> the places that have it in their titles
  for (const place of places) {
    for (const word of place.titled) titles.set(word, [...(titles.get(word) ?? []), place]);
  }

  function* placesWith(word) {
    let at = -1;
    for (const step of bookIndex.words[word] ?? []) {
      at += step >> 1;
      yield [places[at], step & 1 ? SCORE.often : SCORE.once];
    }
  }

  // ---------- a question to it ----------

  // The book's words that answer one word of the question, and what each counts.
  function alike(asked) {
    const found = new Map();
    const stem = stemmer.stemWord(asked);
    for (const word of new Set([...vocabulary, ...titles.keys()])) {
      if (word === stem || word === asked) found.set(word, 1);
      else if (asked.length > 2 && (word.startsWith(asked) || word.startsWith(stem))) found.set(word, LIKE.begins);
      else if (asked.length > 3 && (word.includes(asked) || word.includes(stem))) found.set(word, LIKE.contains);
    }
    return found;
  }

  // For one word of the question: what each place scores.
  function scoresOfWord(asked) {
    const found = new Map();
    const give = (place, score) => found.set(place, Math.max(score, found.get(place) ?? 0));
    for (const [word, worth] of alike(asked)) {
      for (const [place, score] of placesWith(word)) give(place, score * worth);
      for (const place of titles.get(word) ?? []) {
        give(place, worth * (SENTENCES.has(place.kind) ? SCORE.sentence : SCORE.title));
      }
    }
    const rare = Math.log(1 + places.length / (1 + found.size));
    found.forEach((score, place) => found.set(place, score * rare));
    return found;
  }

  // A name with dots is in a place as a whole, or all its parts are.
  function scores(asked) {
    const whole = scoresOfWord(asked);
    if (!asked.includes(".")) return whole;
    const parts = partsOf(asked).map(scoresOfWord);
    const mean = (place) => parts.reduce((sum, part) => sum + part.get(place), 0) / parts.length;
    const all = places.filter((place) => parts.length && parts.every((part) => part.has(place)));
    const found = new Map(all.map((place) => [place, mean(place)]));
    whole.forEach((score, place) => found.set(place, score + (found.get(place) ?? 0)));
    return found;
  }

  // The best that a place's surroundings have to say on a word: its chapter's title, its section's.
  function around(place, score) {
    let best = 0;
    for (let at = place.inside; at; at = at.inside) if (score.has(at)) best = Math.max(best, score.get(at));
    return best && SCORE.around * Math.min(1, best);
  }

  const askedIn = (query) => [...new Set(wordsOf(query).filter((word) => partsOf(word).length))];

  // The places with all words, best first; if there is none, those with most of them.
  function search(query) {
    const asked = askedIn(query);
    const each = asked.map(scores);
    const whole = stems(query).join(" ");
    const found = [];
    for (const place of places) {
      const own = each.map((score) => score.get(place) ?? 0);
      if (!own.some(Boolean)) continue;
      const all = own.map((score, nth) => score || around(place, each[nth]));
      const sum = all.reduce((a, b) => a + b);
      const exact = stems(place.title).join(" ") === whole ? 2 : 1;
      const top = place.inside ? 1 : 1.2; // a page as a whole
      found.push({ place, has: all.filter(Boolean).length, score: sum * KIND[place.kind] * exact * top });
    }
    const most = Math.max(0, ...found.map(({ has }) => has));
    const results = found.filter(({ has }) => has === most).sort((a, b) => b.score - a.score);
    return { asked, results: results.map(({ place }) => place), missing: asked.length - most };
  }

  // ---------- what is shown ----------

  const root = document.documentElement.dataset.content_root ?? "./";
  const make = (tag, className, ...content) => {
    const made = Object.assign(document.createElement(tag), { className });
    made.append(...content);
    return made;
  };

  // What is marked: a name with dots as a whole first, then its parts.
  const stemsOf = (asked) => {
    const parts = asked.flatMap((word) => (word.includes(".") ? partsOf(word) : [word]));
    return [...asked.filter((word) => word.includes(".")), ...parts.map((part) => stemmer.stemWord(part))];
  };

  function addressOf(place, asked) {
    return `${root}${place.page}.html?find=${encodeURIComponent(stemsOf(asked).join(" "))}#${place.anchor}`;
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
      script.src = `${root}_static/search/${page.replaceAll("/", ".")}.js`;
      loading.set(page, new Promise((done) => (script.onload = script.onerror = done)));
      document.head.append(script);
    }
    return loading.get(page).then(() => bookTexts[page] ?? []);
  }

  function item(place, asked) {
    const link = make("a", "", place.title);
    link.href = addressOf(place, asked);
    const said = make("p", "excerpt");
    const shown = make("li", "", link, make("p", "where", whereIs(place)), said);
    shown.dataset.kind = place.kind;
    textsOf(place.page).then((texts) => {
      if (texts[place.nth]) said.append(...excerpt(texts[place.nth], patternOf(stemsOf(asked))));
    });
    return shown;
  }

  const count = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;

  function summary({ asked, results, missing }) {
    if (!asked.length) return "Numbers, signs and words such as “the” are everywhere: ask for others.";
    if (!results.length) return "Nothing in the book has these words.";
    const pages = count(new Set(results.map(({ page }) => page)).size, "page");
    const found = `${count(results.length, "place")} on ${pages}`;
    return missing ? `No place has all of these words; ${found} with most of them.` : `${found}.`;
  }

  const out = document.getElementById("search-results");
  const status = make("p", "search-summary");
  status.setAttribute("role", "status");
  const list = make("ol", "search");
  const more = make("button", "btn", "Show all");
  more.type = "button";
  more.hidden = true;
  out.append(status, list, more);

  function show(query) {
    const found = query.trim() ? search(query) : null;
    status.textContent = found ? summary(found) : "";
    const items = (from, to) => found.results.slice(from, to).map((place) => item(place, found.asked));
    list.replaceChildren(...(found ? items(0, FIRST) : []));
    more.hidden = !found || found.results.length <= FIRST;
    more.onclick = () => {
      const rest = items(FIRST);
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
