"""What axe-core finds wrong with a page: a look at a time for its rules on colours, by far its slowest."""

from __future__ import annotations

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

COLOURS = ("color-contrast", "link-in-text-block")
_CODE = "main .highlight pre"

# Marks each text in sight whose look is new: tag, classes and colours, of its own and up to the root of the page,
# and the type. Returns the new looks. Words of code that look like others lose their elements: axe's time on colours
# grows with all the elements of a page, whatever it is to look at.
_NEW_LOOKS = """([known, code]) => {
  const seen = new Set(known);
  const fresh = [];
  const paths = new Map([[null, '']]);
  const ground = (e, s) => [e.tagName, e.getAttribute('class'), s.backgroundColor, s.backgroundImage, s.opacity].join();
  const path = (e) => {
    if (!paths.has(e)) paths.set(e, `${path(e.parentElement)} ${ground(e, getComputedStyle(e))}`);
    return paths.get(e);
  };
  const type = (s) => [s.color, s.fontSize, s.fontWeight, s.textShadow, s.textDecorationLine].join();
  const speaks = (e) => [...e.childNodes].some((one) => one.nodeType === 3 && one.data.trim()) || 'value' in e;
  for (const one of document.querySelectorAll('body *')) {
    delete one.dataset.look;
    if (!speaks(one) || !one.checkVisibility({visibilityProperty: true})) continue;
    const look = `${path(one)} ${type(getComputedStyle(one))}`;
    if (seen.has(look)) continue;
    seen.add(look);
    fresh.push(look);
    one.dataset.look = '';
  }
  for (const one of document.querySelectorAll(`${code} *`)) {
    if (!('look' in one.dataset) && one.childElementCount === 0) one.replaceWith(...one.childNodes);
  }
  return fresh;
}"""

# What stands in code for its colours alone is half of a page's elements.
_FLAT = "(blocks) => document.querySelectorAll(blocks).forEach((block) => block.replaceChildren(block.textContent))"


def violations(page: Page) -> list[str]:
    """What axe-core finds, of any impact, each with its first three elements: `colours` and then `structure`."""
    return colours(page) + structure(page)


def structure(page: Page) -> list[str]:
    """What all rules find but those on colours. Code has no colours from then on."""
    page.evaluate(_FLAT, _CODE)
    return _found(page, rules={name: {"enabled": False} for name in COLOURS})


def colours(page: Page, known: set[str] | None = None) -> list[str]:
    """What the rules on colours find. Text that looks like text above it is passed over.

    Args:
        page: what to look at.
        known: looks that were looked at on other pages of this theme; those of this page are added.
    """
    fresh = page.evaluate(_NEW_LOOKS, [sorted(known or ()), _CODE])
    if known is not None:
        known.update(fresh)
    rules = {"type": "rule", "values": list(COLOURS)}
    return _found(page, {"include": ["[data-look]"]}, runOnly=rules) if fresh else []


def _found(page: Page, context: dict[str, list[str]] | None = None, **options: object) -> list[str]:
    options = {"resultTypes": ["violations"], "preload": False, **options}
    found = Axe().run(page, context=context, options=options).response["violations"]
    return [f"{one['id']} ({one['impact']}): {[node['html'][:120] for node in one['nodes'][:3]]}" for one in found]
