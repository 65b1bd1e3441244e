// Meanings of the glossary's terms, and what a sentence's marked words rest on: shown beside them while they are pointed
// at, have the focus, or were tapped.
(() => {
  const WAIT = 200; // ms: a pointer that only passes shows nothing; one that moves to the card keeps it
  const card = Object.assign(document.createElement("div"), { className: "gloss-card", id: "gloss-card", hidden: true });
  card.setAttribute("role", "tooltip");
  let shown = null;
  let timer = 0;
  let touched = false; // whether what is pressed now is pressed by a finger
  const MARKS = "a.gloss, a.holds, a.cited";

  function place(link) {
    const box = link.getBoundingClientRect(); // of all its lines: the card must cover none
    const start = link.getClientRects()[0].left;
    const edge = 12;
    const wide = document.documentElement.clientWidth;
    card.style.maxWidth = `${Math.min(360, wide - 2 * edge)}px`;
    const left = Math.max(edge, Math.min(start, wide - card.offsetWidth - edge));
    const below = box.bottom + 6 + card.offsetHeight < innerHeight || box.top < card.offsetHeight + 6;
    const top = below ? box.bottom + 6 : box.top - card.offsetHeight - 6;
    const frame = (card.offsetParent ?? document.body).getBoundingClientRect();
    card.style.left = `${left - frame.left}px`;
    card.style.top = `${top - frame.top}px`;
  }

  function hide() {
    clearTimeout(timer);
    shown?.removeAttribute("aria-describedby");
    card.hidden = true;
    shown = null;
  }

  function meaning(text) {
    const end = text.indexOf(": ");
    const name = document.createElement("b");
    name.textContent = end < 0 ? text : text.slice(0, end);
    return [name, end < 0 ? "" : ` ${text.slice(end + 2)}`];
  }

  // It is said once, in the list at the page's end.
  function evidence(link) {
    const entry = document.getElementById(link.id.replace("mark", "evidence"))?.querySelector(":scope > span");
    return entry ? [...entry.cloneNode(true).childNodes] : [];
  }

  function show(link) {
    clearTimeout(timer);
    if (shown === link) return;
    hide();
    card.replaceChildren(...(link.dataset.gloss ? meaning(link.dataset.gloss) : evidence(link)));
    card.hidden = false;
    shown = link;
    link.setAttribute("aria-describedby", card.id);
    place(link);
  }

  const later = (what, ...given) => {
    clearTimeout(timer);
    timer = setTimeout(what, WAIT, ...given);
  };
  const linkOf = (event) => event.target.closest?.(MARKS);

  document.addEventListener("pointerover", (event) => {
    if (event.pointerType !== "mouse") return;
    const link = linkOf(event);
    if (link) later(show, link);
    else if (card.contains(event.target)) clearTimeout(timer);
  });
  document.addEventListener("pointerout", (event) => {
    if (linkOf(event) || card.contains(event.target)) later(hide);
  });
  document.addEventListener("focusin", (event) => {
    const link = linkOf(event);
    if (link?.matches(":focus-visible")) show(link);
    else hide();
  });
  document.addEventListener("focusout", (event) => linkOf(event) && hide());
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  document.addEventListener("pointerdown", (event) => {
    touched = event.pointerType === "touch";
    if (shown && !linkOf(event) && !card.contains(event.target)) hide();
  });
  // A finger cannot point: the first tap on marked words shows what they rest on, the next one follows the link.
  document.addEventListener("click", (event) => {
    const link = touched && event.target.closest?.("a.holds, a.cited");
    if (!link || link === shown) return;
    event.preventDefault();
    show(link);
  });
  // A link may lead to what is folded.
  function unfold() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let box = target?.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
  }
  addEventListener("hashchange", unfold);
  addEventListener("pagehide", hide); // the page may come back as it was left
  (document.querySelector("main") ?? document.body).append(card); // a landmark, as all that is read
})();
