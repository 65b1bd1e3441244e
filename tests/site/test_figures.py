"""`viz-static.js` on a page of its own, opened as a file: figures and widgets without kernel or server."""

from __future__ import annotations

import base64
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import plotly.graph_objects as go
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import listen, page_width
from tests.site.built import Site
from tests.site.conftest import Open
from tests.site.tour import PLOTLY
from torchbook_press.site.mount import mount

WORDS = "A line that rises from 1 to 3."
Write = Callable[..., str]
COUNTER = """
export default () => ({
  initialize({ model }) { model.set("started", (model.get("started") ?? 0) + 1); },
  render({ model, el }) {
    const button = document.createElement("button");
    const show = () => { button.textContent = `count ${model.get("count")} of ${model.get("started")}`; };
    model.on("change:count", show);
    button.onclick = () => {
      model.set("count", model.get("count") + 1);
      model.save_changes();
    };
    show();
    el.append(button);
  },
});
"""


def figure(**layout: object) -> str:
    """A plot as it is where the press has no drawing of it."""
    made = go.Figure(go.Scatter(y=[1, 2, 3], name="loss"))
    made.update_layout(title="Loss", xaxis_title="step", **layout)
    return mount("plotly", made.to_plotly_json() | {"data": [{"type": "scatter", "y": [1, 2, 3]}]}, WORDS)["text/html"]


def widget(esm: str = COUNTER, model: str = "", picture: str = "", **payload: object) -> str:
    spec = {"esm": esm, "css": "", "buffers": [], "state": {"count": 0, "words": "The count is 0."}} | payload
    return mount("anywidget", spec | ({"model": model} if model else {}), "The count is 0.", picture)["text/html"]


@pytest.fixture
def write(site: Site, tmp_path: Path) -> Write:
    """Write a page that holds some mount points, beside a copy of the site's script and style."""

    def written(*parts: str) -> str:
        static = tmp_path / "_static"
        for name in ("viz-static.js", "site.css", "print.css", PLOTLY):
            (static / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(site.file(f"_static/{name}"), static / name)
        head = '<link rel="stylesheet" href="_static/site.css"><script defer src="_static/viz-static.js"></script>'
        head += '<link rel="stylesheet" href="_static/print.css" media="print">'
        body = f'<body style="margin:0"><main class="bd-article">{"".join(parts)}</main></body>'
        path = tmp_path / "page.html"
        path.write_text(f'<!DOCTYPE html><html data-theme="light"><head>{head}</head>{body}</html>', encoding="utf-8")
        return path.as_uri()

    return written


def ready(page: Page) -> Locator:
    return page.locator(".viz-mount[data-ready='1']")


FAR = '<div style="height:4000px"></div>'


def test_a_figure_starts_when_it_is_near_and_keeps_its_height(write: Write, open_page: Open) -> None:
    page = open_page("about:blank")
    log = listen(page)
    page.goto(write(FAR, figure(height=333)))
    stage = page.locator(".viz-stage")
    expect(stage).to_have_count(1)
    assert stage.bounding_box()["height"] == 333
    assert not log.asked_for(PLOTLY)
    stage.scroll_into_view_if_needed()
    expect(ready(page)).to_have_count(1)
    expect(page.locator("svg.main-svg").first).to_be_visible()
    assert stage.bounding_box()["height"] == 333
    assert not log.errors


@pytest.mark.parametrize("hidden", ["<details><summary>More</summary>{}</details>", '<div id="tab" hidden>{}</div>'])
def test_a_hidden_figure_starts_when_it_is_shown(write: Write, open_page: Open, hidden: str) -> None:
    page = open_page(write(hidden.format(figure()), figure()))
    expect(ready(page)).to_have_count(1)
    page.evaluate(
        "document.querySelector('details, #tab').toggleAttribute(document.querySelector('#tab') ? 'hidden' : 'open')"
    )
    expect(ready(page)).to_have_count(2)
    width = page.locator("main").bounding_box()["width"]
    assert page.locator(".viz-stage .main-svg").first.bounding_box()["width"] > 0.7 * width


def test_a_figure_follows_the_width(write: Write, open_page: Open) -> None:
    page = open_page(write(figure(width=900)))
    expect(ready(page)).to_have_count(1)
    page.set_viewport_size({"width": 360, "height": 800})
    page.wait_for_function("document.querySelector('.main-svg').getBoundingClientRect().width <= 360")
    assert page_width(page) <= 360


def test_the_theme_colours_the_figure(write: Write, open_page: Open) -> None:
    page = open_page(write(figure(paper_bgcolor="white", plot_bgcolor="white", font={"color": "black"})))
    expect(ready(page)).to_have_count(1)
    title = page.locator(".gtitle")
    colour = "text => getComputedStyle(text).fill"
    expect(page.locator(".main-svg").first).to_have_css("background-color", "rgba(0, 0, 0, 0)")
    light = title.evaluate(colour)
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_function("before => getComputedStyle(document.querySelector('.gtitle')).fill !== before", arg=light)
    dark = title.evaluate(colour)
    page.evaluate("document.documentElement.dataset.theme = 'light'")
    page.wait_for_function("before => getComputedStyle(document.querySelector('.gtitle')).fill !== before", arg=dark)
    assert title.evaluate(colour) == light


def test_the_mode_bar_waits_for_the_mouse_and_links_nowhere(write: Write, open_page: Open) -> None:
    page = open_page(write(figure()))
    expect(ready(page)).to_have_count(1)
    bar = page.locator(".modebar-group").first
    expect(bar).to_have_css("opacity", "0")
    page.locator(".viz-stage").hover()
    expect(bar).to_have_css("opacity", "1")
    assert page.locator(".viz-stage a[href*='//']").count() == 0
    assert "Share" not in page.locator(".modebar").aria_snapshot()


def test_words_are_for_screen_readers_then_for_paper(write: Write, open_page: Open) -> None:
    page = open_page(write(figure()))
    expect(ready(page)).to_have_count(1)
    words = page.locator(".viz-words")
    assert words.bounding_box()["height"] <= 1
    snapshot = page.locator("figure").aria_snapshot()
    assert WORDS in snapshot
    assert "step" not in snapshot
    page.emulate_media(media="print")
    assert words.bounding_box()["height"] > 10


def test_without_javascript_the_words_are_read(write: Write, open_page: Open) -> None:
    page = open_page(write(figure(), widget()), java_script_enabled=False)
    for words in page.locator(".viz-words").all():
        assert words.bounding_box()["height"] > 10


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (widget(esm="export default { render() { throw new Error('no such layer') } }"), "no such layer"),
        (widget(esm="this is not a module"), "Unexpected"),
        (widget(esm="export default {}"), "exports no render"),
        (figure().replace('"data"', '"data', 1), "JSON"),
        (mount("shadow", {}, WORDS)["text/html"], "shadow"),
    ],
    ids=["render", "syntax", "no render", "json", "kind"],
)
def test_a_figure_that_cannot_start_says_so(write: Write, open_page: Open, broken: str, reason: str) -> None:
    page = open_page(write(broken, widget()))
    expect(page.locator(".viz-problem")).to_contain_text("could not start")
    expect(page.locator(".viz-problem")).to_contain_text(reason)
    assert page.locator(".viz-words").first.bounding_box()["height"] > 10
    expect(ready(page)).to_have_count(1)


def test_a_widget_renders_and_reacts(write: Write, open_page: Open) -> None:
    page = open_page("about:blank")
    log = listen(page)
    page.goto(write(widget()))
    button = page.get_by_role("button")
    expect(button).to_have_text("count 0 of 1")
    button.click()
    expect(button).to_have_text("count 1 of 1")
    assert not log.errors
    assert not log.foreign


def test_a_widget_gives_way_to_its_picture_and_words_on_paper(write: Write, open_page: Open) -> None:
    picture = '<svg class="still" viewBox="0 0 9 9" width="90"><rect width="9" height="9"/></svg>'
    page = open_page(write(widget(picture=picture)))
    still, words, button = page.locator(".still"), page.locator(".viz-words"), page.get_by_role("button")
    expect(button).to_be_visible()
    expect(still).to_be_hidden()
    expect(words).to_be_hidden()
    page.emulate_media(media="print")
    expect(still).to_be_visible()
    expect(words).to_have_text("The count is 0.")
    expect(words).to_be_visible()
    expect(button).to_be_hidden()


def test_views_of_one_model_share_its_state_and_other_models_do_not(write: Write, open_page: Open) -> None:
    page = open_page(write(widget(model="a"), widget(model="a"), widget(model="b"), widget()))
    buttons = page.get_by_role("button")
    expect(buttons).to_have_count(4)
    buttons.first.click()
    for number, text in enumerate(("count 1 of 1", "count 1 of 1", "count 0 of 1", "count 0 of 1")):
        expect(buttons.nth(number)).to_have_text(text)


def test_the_model_keeps_the_contract_of_anywidget(write: Write, open_page: Open) -> None:
    esm = """
    export default { async render({ model, el, experimental, signal }) {
      const said = [];
      const say = (...what) => said.push(what.join(" "));
      const heard = (_, value) => say("x", JSON.stringify(value));
      model.on("change:x change:y", heard);
      model.on("change", () => say("change"));
      model.once("custom", () => say("custom"));
      model.set("x", [1, 2]);
      model.set("x", [1, 2]);
      model.set({ x: [3], y: { a: 1 } });
      model.off("change:x", heard);
      model.set("x", 0);
      model.trigger("custom");
      model.trigger("custom");
      model.off();
      model.set("x", 1);
      model.save_changes();
      model.send({ hello: 1 });
      for (const ask of [() => model.widget_manager.get_model("k"), () => experimental.invoke("f")]) {
        await ask().catch((error) => say(/no kernel/.test(error.message)));
      }
      say(signal.aborted, model.get("numbers").getFloat32(4, true), model.get("deep").rows[1].getUint8(0));
      el.textContent = said.join("|");
    } };
    """
    numbers = base64.b64encode(b"\x00\x00\x00\x00\x00\x00\x20\x40").decode()
    buffers = [
        {"path": ["numbers"], "encoding": "base64", "data": numbers},
        {"path": ["deep", "rows", 1], "encoding": "base64", "data": base64.b64encode(b"\x07").decode()},
    ]
    page = open_page(write(widget(esm, buffers=buffers, state={"deep": {"rows": [0, None]}})))
    expected = ["x [1,2]", "change", "x [3]", 'x {"a":1}', "change", "change", "custom", "true", "true", "false 2.5 7"]
    expect(page.locator(".viz-stage")).to_have_text("|".join(expected))


def test_a_model_comes_from_the_site_when_it_is_asked_for_also_as_a_file(site: Site, open_page: Open) -> None:
    page = open_page("about:blank")
    log = listen(page)
    page.goto(site.file("book/llm/l2-gpt/inside.html").as_uri() + "#tbviz-living:greedy")
    figure = page.get_by_role("group", name="Living model")
    expect(figure).to_be_visible()
    assert not log.asked_for("/aside/")
    figure.get_by_role("button", name=re.compile(r"Load the model \(0\.\d MB\)")).click()
    figure.get_by_role("textbox", name="text").fill("To be, or not to be")
    expect(figure.locator(".tbviz-words")).to_contain_text("Most attention of character 18 “e” in layer 0")
    assert log.asked_for("/_static/aside/")
    assert not log.errors
    assert not log.beyond_files
