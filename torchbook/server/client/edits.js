// What the reader wrote into cells, kept in this browser: by the cell, and by the hash of the book's text it came from.

export function hash(text) {
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (const unit of text) {
    const code = unit.codePointAt(0);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (low >>> 0).toString(36) + (high >>> 0).toString(36);
}

export class Edits {
  constructor(page) {
    this.key = `torchbook:live:${page}`;
  }

  all() {
    try {
      return JSON.parse(localStorage.getItem(this.key)) ?? [];
    } catch {
      return [];
    }
  }

  // The edit of a cell, and whether the book's text has changed since. `hashes` are those of all cells of the page: a
  // cell that has only moved keeps its edit.
  of({ id, book }, hashes) {
    const all = this.all();
    const own = hash(book);
    const same = all.filter((one) => one.hash === own);
    const found = same.find((one) => one.id === id) ?? (hashes.filter((one) => one === own).length === 1 ? same[0] : undefined);
    if (found) return { text: found.text, stale: false };
    const old = all.find((one) => one.id === id && !hashes.includes(one.hash));
    return old && { text: old.text, stale: true };
  }

  // Keeps an edit in place of older ones of this cell; none where the text is undefined. Says whether it could.
  keep({ id, book }, text) {
    const own = hash(book);
    const others = this.all().filter((one) => one.id !== id && !(one.hash === own && text === undefined));
    try {
      localStorage.setItem(this.key, JSON.stringify(text === undefined ? others : [...others, { id, hash: own, text }]));
      return true;
    } catch {
      return false;
    }
  }
}
