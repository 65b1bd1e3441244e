// Chromium keeps the place of an id in the PDF only where a link leads to it: links that nobody sees.
(ids) => {
  const box = document.createElement("div");
  box.style.cssText = "height: 0; overflow: hidden";
  box.setAttribute("aria-hidden", "true");
  box.append(...ids.map((id) => Object.assign(document.createElement("a"), { href: `#${id}`, textContent: "." })));
  document.querySelector("article").append(box);
}
