/** Copying text, also where the clipboard is not allowed. */

import { button } from "./controls.js";
import { h } from "./dom.js";

/** Copy `text`; resolves to true when it worked. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByHand(text);
  }
}

function copyByHand(text) {
  const before = document.activeElement;
  const area = h("textarea", {
    readonly: true,
    "aria-hidden": "true",
    style: { position: "fixed", top: "0", opacity: "0" },
  });
  area.value = text;
  document.body.append(area);
  area.select();
  let worked = false;
  try {
    worked = document.execCommand("copy");
  } catch {
    worked = false;
  }
  area.remove();
  before?.focus?.();
  return worked;
}

/**
 * A button that copies and says so.
 * @param {string} label
 * @param {() => string} getText
 */
export function copyButton(label, getText, opts = {}) {
  const status = h("span", { class: "tbviz-status", role: "status" });
  let timer = 0;
  const say = (text) => {
    clearTimeout(timer);
    status.textContent = text;
    timer = setTimeout(() => (status.textContent = ""), 2500);
  };
  const press = button(
    label,
    async () => {
      const text = getText();
      say((await copyText(text)) ? "Copied" : `Copying is not allowed here. Copy this: ${text}`);
    },
    opts,
  );
  return h("span", { class: "tbviz-copy" }, press, status);
}
