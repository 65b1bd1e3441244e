"""What pages load: style sheets without the rules for what no page has."""

from __future__ import annotations

import pytest

from torchbook_press.site.assets import trimmed

WORDS = {"card", "show", "nav-link"}


@pytest.mark.parametrize(
    ("css", "left"),
    [
        (".card{color:red}", ".card{color:red}"),
        (".carousel{color:red}", ""),
        (".card,.carousel{color:red}", ".card{color:red}"),
        (".card .carousel{color:red}", ""),
        (".card.show>a:hover{color:red}", ".card.show>a:hover{color:red}"),
        ("a:not(.carousel){color:red}", "a:not(.carousel){color:red}"),
        ("a:is(.card,.carousel){color:red}", "a:is(.card,.carousel){color:red}"),
        ('[data-theme="dark"] p{color:red}', '[data-theme="dark"] p{color:red}'),
        (".bs-tooltip-top{color:red}", ".bs-tooltip-top{color:red}"),
        ("@media print{.carousel{color:red}}", ""),
        ("@media print{.card{color:red}.carousel{color:red}}", "@media print{.card{color:red}}"),
        ("@keyframes turn{0%{opacity:0}}", "@keyframes turn{0%{opacity:0}}"),
        ("/* a word */.card{--a:url(x.svg)}", ".card{--a:url(x.svg)}"),
    ],
)
def test_rules_stay_for_what_is_on_the_site(css: str, left: str) -> None:
    assert trimmed(css, WORDS) == left
