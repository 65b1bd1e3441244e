"""Every page, as one tour of the site has seen it: over http and as a file, in light, dark, on a phone and on paper.

That the bundle holds the same files, `test_offline` shows.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable

import pytest

from tests.site.built import Site
from tests.site.tour import PROMISES, Record
from torchbook import viz

pytestmark = pytest.mark.browser

KINDS = {
    hashlib.sha256(str(kind._esm).encode()).hexdigest()[:16]: name
    for name in viz.__all__
    if isinstance(kind := getattr(viz, name), type)
}
_MODULE = re.compile(r'<script[^>]* class="viz-module" data-module="([^"]+)"')


def _modules(site: Site, page: str) -> set[str]:
    return set(_MODULE.findall((site.root / page).read_text(encoding="utf-8")))


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_a_page(record: Record, promise: Callable[[Record], list[str]]) -> None:
    assert promise(record) == []


def test_all_kinds_of_visualizers_on_a_page_were_used(site: Site, record: Record) -> None:
    assert set(record.modules) == _modules(site, record.page)


def test_every_kind_of_visualizer_is_on_a_page(site: Site) -> None:
    modules = set().union(*(_modules(site, page) for page in site.pages))
    assert sorted(KINDS.get(module, f"{module}: none of the package's") for module in modules) == sorted(KINDS.values())
