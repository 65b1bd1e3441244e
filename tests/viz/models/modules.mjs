// Loads a module of a visualizer's source with node alone: JSON is imported there as the bundler does it.

import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

const made = new Map();

/** A module of a JSON file: its value, and its keys by name. */
function json(source) {
  const names = Object.keys(JSON.parse(source)).filter((name) => /^[a-z]\w*$/.test(name));
  return `const all = ${source};export default all;export const { ${names.join(", ")} } = all;`;
}

/** The address of a module that holds `path` and, as addresses, all that it imports. */
function address(path) {
  if (!made.has(path)) {
    const source = readFileSync(path, "utf8");
    const text = path.endsWith(".json") ? json(source) : source.replace(/(\bfrom\s*)"(\.[^"]+)"/g, (_, from, other) => `${from}"${address(resolve(dirname(path), other))}"`);
    made.set(path, `data:text/javascript,${encodeURIComponent(text)}`);
  }
  return made.get(path);
}

export const load = (path) => import(address(resolve(path)));
