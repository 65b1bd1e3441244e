"""What axe-core finds wrong with a page: of texts that look the same, one is looked at for its colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

COLOURS = ("color-contrast", "link-in-text-block")
_CODE = "main .highlight pre"

# Marks each text in sight whose look is new: tag, classes and colours, of its own and up to the root of the page,
# and the type. Returns the new looks, as numbers that stand for them. Words of code that look like others of this page
# lose their elements: they are half of a page, and axe's time grows with all its elements.
_NEW_LOOKS = """([known, code]) => {
  const elsewhere = new Set(known);
  const here = new Set();
  const paths = new Map([[null, '']]);
  const ground = (e, s) => [e.tagName, e.getAttribute('class'), s.backgroundColor, s.backgroundImage, s.opacity].join();
  const path = (e) => {
    if (!paths.has(e)) paths.set(e, `${path(e.parentElement)} ${ground(e, getComputedStyle(e))}`);
    return paths.get(e);
  };
  const type = (s) => [s.color, s.fontSize, s.fontWeight, s.textShadow, s.textDecorationLine].join();
  const speaks = (e) => [...e.childNodes].some((node) => node.nodeType === 3 && node.data.trim()) || 'value' in e;
  const number = (text) => {
    let high = 0xdeadbeef, low = 0x41c6ce57;
    for (let at = 0; at < text.length; at++) {
      const unit = text.charCodeAt(at);
      high = Math.imul(high ^ unit, 2654435761);
      low = Math.imul(low ^ unit, 1597334677);
    }
    high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
    low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
    return (low >>> 0).toString(36) + (high >>> 0).toString(36);
  };
  const first = new Set();
  for (const element of document.querySelectorAll('body *')) {
    delete element.dataset.look;
    if (!speaks(element) || !element.checkVisibility({visibilityProperty: true})) continue;
    const look = number(`${path(element)} ${type(getComputedStyle(element))}`);
    if (here.has(look)) continue;
    here.add(look);
    first.add(element);
    if (!elsewhere.has(look)) element.dataset.look = '';
  }
  for (const word of document.querySelectorAll(`${code} *`)) {
    if (!first.has(word) && word.childElementCount === 0) word.replaceWith(...word.childNodes);
  }
  return [...here].filter((look) => !elsewhere.has(look));
}"""

# The rules on colours, by far the slowest, see only what is marked; all others see the page.
_RUN = """async (options) => {
  axe.configure({ rules: [
    { id: 'color-contrast', selector: '[data-look]' },
    { id: 'link-in-text-block', selector: 'a[href][data-look], [data-look] a[href], [data-look] [role=link]' },
  ] });
  const { violations } = await axe.run(options);
  return violations.map(({ id, impact, nodes }) => [id, impact, nodes.slice(0, 3).map((node) => node.html)]);
}"""
_OPTIONS = {"resultTypes": ["violations"], "preload": False, "elementRef": False, "xpath": False, "ancestry": False}


@dataclass(frozen=True)
class Findings:
    """What axe-core finds, of any impact, each with its first three elements."""

    colours: list[str]
    structure: list[str]


def look(page: Page, known: set[str] | None = None, rules: Sequence[str] = ()) -> Findings:
    """What all rules find. Of colours, text that looks like text above it is passed over.

    Args:
        page: what to look at.
        known: looks of texts that can be read, seen on other pages of this theme; those of this page are added, if
            all of its texts can be read.
        rules: only these.
    """
    fresh = page.evaluate(_NEW_LOOKS, [sorted(known or ()), _CODE])
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    colours: list[str] = []
    structure: list[str] = []
    options = _OPTIONS | ({"runOnly": list(rules)} if rules else {})
    for rule, impact, elements in page.evaluate(_RUN, options):
        finding = f"{rule} ({impact}): {[element[:120] for element in elements]}"
        (colours if rule in COLOURS else structure).append(finding)
    if known is not None and not colours:
        known.update(fresh)
    return Findings(colours, structure)


def violations(page: Page) -> list[str]:
    """What all rules find, those on colours first."""
    findings = look(page)
    return findings.colours + findings.structure
