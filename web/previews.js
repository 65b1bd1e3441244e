// Meanings of the glossary's terms, shown beside a link to one while it is pointed at or has the focus.
(() => {
  const WAIT = 200; // ms: a pointer that only passes shows nothing; one that moves to the card keeps it
  const card = Object.assign(document.createElement("div"), { className: "gloss-card", id: "gloss-card", hidden: true });
  card.setAttribute("role", "tooltip");
  let shown = null;
  let timer = 0;

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

  function show(link) {
    clearTimeout(timer);
    if (shown === link) return;
    hide();
    const text = link.dataset.gloss;
    const end = text.indexOf(": ");
    const name = document.createElement("b");
    name.textContent = end < 0 ? text : text.slice(0, end);
    card.replaceChildren(name, end < 0 ? "" : ` ${text.slice(end + 2)}`);
    card.hidden = false;
    shown = link;
    link.setAttribute("aria-describedby", card.id);
    place(link);
  }

  const later = (what, ...given) => {
    clearTimeout(timer);
    timer = setTimeout(what, WAIT, ...given);
  };
  const linkOf = (event) => event.target.closest?.("a.gloss");

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
  addEventListener("pagehide", hide); // the page may come back as it was left
  (document.querySelector("main") ?? document.body).append(card); // a landmark, as all that is read
})();
