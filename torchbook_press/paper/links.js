// Run in a page of the site, with the site's address, the book's pages and its address online: every link of the article
// becomes one that outlives the page, `jump` + page + "#" + id within the book. Gives headings and ids.
({ site, pages, here, online, jump }) => {
  const article = document.querySelector("article");
  const known = new Set(pages);

  function lasting(address) {
    if (!address.href.startsWith(site)) return address.href;
    const path = decodeURIComponent(address.pathname).slice(decodeURIComponent(new URL(site).pathname).length);
    const page = path.replace(/\.html$/, "");
    return known.has(page) ? jump + page + address.hash : `${online}/${path}${address.hash}`;
  }

  for (const link of article.querySelectorAll("a[href]")) link.setAttribute("href", lasting(new URL(link.href)));

  for (const exercise of article.querySelectorAll("section.exercise:has(> .fold)")) {
    const link = document.createElement("a");
    Object.assign(link, { href: `${online}/${here}.html#${exercise.id}`, textContent: "Hints and the solution online" });
    const line = exercise.querySelector(".exercise-check");
    line.append(" ", link, ".");
  }

  const headings = [...article.querySelectorAll("section[id] > :is(h1, h2, h3)")].map((heading) => {
    heading.querySelector("a.headerlink")?.remove();
    const text = heading.textContent.replace(/\s+/g, " ").trim();
    return { level: Number(heading.tagName[1]), text, id: heading.parentElement.id };
  });
  return { headings, ids: [...article.querySelectorAll("[id]")].map(({ id }) => id) };
}
