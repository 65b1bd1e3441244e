"""The core that all visualizers share: controls, keys, copying, links and motion, in a real browser."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import playwright
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.axe import violations
from tests.conftest import PATIENCE

CORE = Path("torchbook/viz/src/core")
Try = Callable[..., Page]


@pytest.fixture
def trial(browser: Browser, repo: Path, tmp_path: Path) -> Iterator[Try]:
    """A page on which `script` runs with every export of the core in scope as `core`, and `el` to draw into."""
    contexts = []

    def tried(script: str, *, mount: bool = True, hash: str = "", **options: Any) -> Page:
        # One module without imports, as a bundle is: a page opened as a file cannot import its neighbours.
        bundle = _in_one(repo / CORE)
        figure = '<figure class="viz-mount"><div id="el"></div></figure>' if mount else '<div id="el"></div>'
        head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Core</title>'
        html = tmp_path / "page.html"
        html.write_text(
            f"{head}<main><h1>Core</h1>{figure}</main>"
            f'<script type="module">{bundle}\nconst el = document.getElementById("el");\n{script}\n'
            "document.body.dataset.done = '1';</script></html>",
            encoding="utf-8",
        )
        context = browser.new_context(**{"reduced_motion": "reduce", **options})
        contexts.append(context)
        context.set_default_timeout(5000 * PATIENCE)
        page = context.new_page()
        page.goto(html.as_uri() + hash)
        page.locator("body[data-done]").wait_for(state="attached")
        return page

    yield tried
    for context in contexts:
        context.close()


def _in_one(folder: Path) -> str:
    """The core's modules in one scope, without their imports and exports."""
    parts = []
    for name in [
        "dom",
        "motion",
        "field",
        "pointer",
        "relations",
        "controls",
        "player",
        "copy",
        "permalink",
        "arrival",
        "grip",
        "style",
        "contract",
        "shell",
    ]:
        lines = (folder / f"{name}.js").read_text(encoding="utf-8").splitlines()
        kept = [line.removeprefix("export ") for line in lines if not line.startswith("import ")]
        parts.append("\n".join(kept))
    return "\n".join(parts)


MODEL = """
const data = { words: "" }, heard = {};
const model = {
  get: (k) => data[k], save_changes() { data.saved = (data.saved || 0) + 1; },
  set(k, v) { data[k] = v; for (const e of [`change:${k}`, "change"]) (heard[e] || []).forEach((f) => f()); },
  on: (k, f) => (heard[k] = [...(heard[k] || []), f]), off: (k, f) => (heard[k] = heard[k].filter((g) => g !== f)),
};
"""


def test_toolbar_is_one_tab_stop(trial: Try) -> None:
    page = trial("""const [a, b, c, after] = ["a", "b", "c", "after"].map((t) => button(t, () => {}));
      el.append(toolbar("Tools", [a, b, c]), after)""")
    focused = "document.activeElement.textContent"
    page.keyboard.press("Tab")
    seen = []
    for key in ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft", "Home", "End", "Tab", "Shift+Tab"]:
        page.keyboard.press(key)
        seen.append(page.evaluate(focused))
    assert seen == ["b", "c", "a", "c", "a", "c", "after", "c"]


def test_disabled_button_keeps_the_focus_and_does_nothing(trial: Try) -> None:
    page = trial("window.n = 0; const b = button('go', () => { n += 1; b.disable(true) }); el.append(b)")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")
    assert page.evaluate("[n, document.activeElement.textContent]") == [1, "go"]


def test_controls_have_names_and_values(trial: Try) -> None:
    page = trial("""
      const show = (v) => (document.title = String(v));
      el.append(slider({label: "rate", min: 0, max: 10, value: 4, format: (v) => `${v} per step`, oninput: show}),
        select({label: "kind", options: ["a", {label: "Bee", value: "b"}], value: "b", onchange: show}),
        field({label: "text", value: "x", oninput: show}), number({label: "count", value: 3, oninput: show}),
        toggle("loud", true, show))""")
    slider = page.get_by_role("slider", name="rate")
    expect(slider).to_have_attribute("aria-valuetext", "4 per step")
    slider.press("ArrowRight")
    expect(page).to_have_title("5")
    expect(page.get_by_role("combobox", name="kind")).to_have_value("b")
    page.get_by_role("textbox", name="text").fill("y")
    expect(page).to_have_title("y")
    page.get_by_role("spinbutton", name="count").fill("")
    expect(page).to_have_title("null")
    page.get_by_role("button", name="loud", pressed=True).click()
    expect(page).to_have_title("false")
    assert violations(page) == []


def test_field_announces_its_error(trial: Try) -> None:
    page = trial("""const check = (v) => box.update({error: v ? "" : "a number, please"});
      const box = field({label: "size", value: "", oninput: check});
      el.append(box)""")
    box = page.get_by_role("textbox", name="size")
    box.fill("1")
    box.fill("")
    expect(page.get_by_role("alert")).to_have_text("a number, please")
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(box).to_have_accessible_description("a number, please")


@pytest.mark.parametrize("broken", [False, True], ids=["clipboard", "without a clipboard"])
def test_copy_button_says_that_it_copied(trial: Try, broken: bool) -> None:
    deny = "Object.defineProperty(navigator, 'clipboard', {value: {writeText: () => Promise.reject(new Error('no'))}});"
    page = trial(f"{deny if broken else ''} el.append(copyButton('Copy', () => 'x = 1'))")
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("status")).to_have_text("Copied")
    page.evaluate("el.append(Object.assign(document.createElement('textarea'), {id: 'into'}))")
    page.locator("#into").press("Control+v")
    assert page.locator("#into").input_value() == "x = 1"


LINK = "permalink({key: 'fig', el, get: () => ({a: [1, 'é']}), put: (v) => (document.title = JSON.stringify(v))})"


@pytest.mark.parametrize(
    ("hash", "title"),
    [("#tbviz-fig:word", '"word"'), ("#tbviz-other:word", "Core"), ("#tbviz-fig=!", "Core"), ("", "Core")],
)
def test_link_is_applied_to_its_figure(trial: Try, hash: str, title: str) -> None:
    expect(trial(f"el.append({LINK})", hash=hash)).to_have_title(title)


def test_link_carries_any_value_and_follows_the_address(trial: Try) -> None:
    page = trial(f"window.made = hashOf('fig', {{a: [1, 'é']}}); el.append({LINK})")
    page.evaluate("location.hash = made")
    expect(page).to_have_title('{"a":[1,"é"]}')


FOLLOWED = """
const put = (v) => model.set("x", typeof v === "string" ? v : v.x);
const get = () => (data.x === "a" || data.x === "b" ? data.x : {x: data.x});
shell({model, el, kind: "trial", contract: {title: "Trial", help: "How."}}); model.set("x", 0);
el.append(permalink({key: "fig", el, get, put}));"""


def test_going_back_undoes_a_preset(trial: Try) -> None:
    page = trial(f"{MODEL}{FOLLOWED} window.model = model")
    for preset in "ab":
        page.evaluate("(preset) => model.set('x', preset)", preset)
        page.wait_for_function("(hash) => location.hash === hash", arg=f"#tbviz-fig:{preset}")
    for before in ("a", 0):
        page.go_back()
        page.wait_for_function("(x) => model.get('x') === x", arg=before)
    assert page.evaluate("location.hash") == ""


def test_the_address_follows_a_state_once_it_tells_of_the_figure(trial: Try) -> None:
    page = trial(f"{MODEL}{FOLLOWED} window.model = model; window.made = hashOf('fig', {{x: 3}})")
    page.evaluate("model.set('x', 'a')")
    page.wait_for_function("location.hash === '#tbviz-fig:a'")
    page.evaluate("model.set('x', 3)")
    page.wait_for_function("location.hash === made")


def test_a_state_without_a_link_leaves_the_address_alone(trial: Try) -> None:
    page = trial(f"{MODEL}{FOLLOWED} window.model = model")
    page.evaluate("model.set('x', 3)")
    page.wait_for_timeout(400)
    assert page.evaluate("location.hash") == ""


def test_link_hides_where_there_is_no_page_of_the_book(trial: Try) -> None:
    page = trial(f"el.append({LINK})", mount=False, hash="#tbviz-fig:word")
    assert page.get_by_role("button").count() == 0
    expect(page).to_have_title("Core")


def test_shell_bonds_to_the_traits_and_lets_go(trial: Try) -> None:
    page = trial(f"""{MODEL}
      const ui = shell({{model, el, kind: "trial", contract: {{title: "Trial", help: "How to use it."}}}});
      const seen = [];
      ui.on("x", (v) => seen.push(v));
      ui.set({{x: 1}});
      ui.say("one");
      window.before = [seen.slice(), data.words, data.saved, el.querySelector("[aria-live]").textContent];
      ui.cleanup();
      model.set("x", 2);
      window.after = [seen.slice(), el.childElementCount];""")
    assert page.evaluate("before") == [[1], "one", 2, "one"]
    assert page.evaluate("after") == [[1], 0]


def test_shell_keeps_keys_from_the_notebook(trial: Try) -> None:
    page = trial(f"""{MODEL} window.heard = [];
      addEventListener("keydown", (e) => heard.push(e.key));
      shell({{model, el, kind: "trial", contract: {{title: "Trial"}}}}).lay({{stage: button("b", () => {{}})}})""")
    page.get_by_role("button", name="b").press("ArrowDown")
    assert page.evaluate("heard") == []


TRIAL = f"""{MODEL}
const of = contractOf({{title: "Trial", finding: "It counts", invitation: "Press.", help: "How.",
  fields: {{x: {{value: 1, low: 0, high: 9, whole: true}}, y: {{value: null, low: 0, high: 1}}}},
  choices: {{kind: {{value: "a", of: "kinds"}}}}, kinds: {{a: "A", b: {{label: "B"}}}},
  presets: {{one: {{label: "One", note: "Once.", set: {{}}}}, two: {{label: "Two", note: "Twice.", set: {{x: 2}}}}}}}});
Object.assign(data, of.start, {{step: 7}});
const log = [];
const ui = shell({{model, el, contract: of, kind: "trial", reset: {{step: 0}}, changing: () => log.push("before"),
  changed: (given) => log.push(Object.keys(given).join())}});
const note = h("p", {{class: "note"}});
let drawn = 0;
const draw = () => {{ drawn += 1; ui.tell(note, ui.mark(of.presetOf(ui.setting()))); }};
const stage = h("p", {{}}, "stage");
ui.lay({{stage, presets: ui.chips(), readout: note, drawer: ui.link()}});
ui.follow(draw);
ui.watch(stage, draw);
draw();
Object.assign(window, {{model, ui, log, of, hashOf, draws: () => drawn}});
"""


def test_the_frame_says_what_the_contract_says(trial: Try) -> None:
    page = trial(TRIAL)
    figure = page.get_by_role("group", name="Trial", exact=True)
    expect(figure).to_have_accessible_description("How.")
    expect(figure).to_contain_text("It counts")
    expect(page.get_by_role("button", pressed=True)).to_have_text(["One"])
    expect(page.locator(".note")).to_have_text("Once.")
    page.get_by_role("button", name="Two").click()
    expect(page.get_by_role("button", pressed=True)).to_have_text(["Two"])
    assert page.evaluate("[ui.setting(), model.get('step'), log]") == [
        {"x": 2, "y": None, "kind": "a"}, 0, ["before", "x,y,kind,step"],
    ]  # fmt: skip
    page.evaluate("ui.put({x: 3})")
    expect(page.get_by_role("button", pressed=True)).to_have_count(0)
    expect(page.locator(".note")).to_be_hidden()


@pytest.mark.parametrize(("value", "x", "step"), [
    ("two", 2, 0), ({"x": 5}, 5, 0), ({"x": 5, "kind": "b", "y": 0.5}, 5, 0), ({"x": 5, "y": None}, 5, 0),
    ("three", 1, 7), ("toString", 1, 7), ({"x": 99}, 1, 7), ({"x": 1.5}, 1, 7), ({"z": 1}, 1, 7), ({"kind": "c"}, 1, 7),
    ([], 1, 7), (None, 1, 7),
])  # fmt: skip
def test_a_link_does_what_the_contract_allows(trial: Try, value: Any, x: int, step: int) -> None:
    page = trial(TRIAL)
    page.evaluate("(value) => { location.hash = hashOf('trial-1', value) }", value)
    page.wait_for_timeout(50)
    assert page.evaluate("[model.get('x'), model.get('step')]") == [x, step]


def test_many_changes_are_drawn_once_and_none_after_the_end(trial: Try) -> None:
    page = trial(TRIAL)
    before = page.evaluate("draws()")
    assert page.evaluate("(ui.set({x: 2, y: 1}), ui.set({x: 3}), Promise.resolve().then(draws))") == before + 1
    page.set_viewport_size({"width": 500, "height": 500})
    page.wait_for_function("(before) => draws() === before + 2", arg=before)
    page.evaluate("ui.cleanup()")
    assert page.evaluate("(model.set('x', 4), Promise.resolve().then(draws))") == before + 2


def test_what_is_wrong_with_a_value_is_said(trial: Try) -> None:
    page = trial(TRIAL)
    asked = [["x", 10], ["x", 2.5], ["y", 2], ["y", None], ["x", None], ["kind", "c"], ["kind", "b"], ["x", 9]]
    assert page.evaluate("(all) => all.map(([name, value]) => of.problem(name, value))", asked) == [
        "a whole number from 0 to 9", "a whole number from 0 to 9", "a number from 0 to 1, or nothing", "",
        "a whole number from 0 to 9", "one of a, b", "", "",
    ]  # fmt: skip


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_animation_respects_the_wish_for_less_motion(trial: Try, motion: Any) -> None:
    page = trial(
        "window.steps = []; animate({ms: 120, step: (t) => steps.push(t), done: () => (document.title = 'done')})",
        reduced_motion=motion,
    )
    expect(page).to_have_title("done")
    steps = page.evaluate("steps")
    assert steps[-1] == 1
    assert steps == sorted(steps)
    assert (len(steps) == 1) == (motion == "reduce")


RELATED = """
const box = (name, related, place) =>
  s("rect", {"data-part": name, "data-with": related, x: 40 * place, width: 30, height: 30});
const svg = s("svg", {width: 200, height: 30});
const paint = () => replace(svg, box("q1", "k1 k2", 0), box("k1", "", 1), box("k2", "", 2), box("k3", "", 3));
window.heard = [];
const lit = () => [...svg.querySelectorAll(".tbviz-lit")].map((one) => one.dataset.part).join(" ");
Object.assign(window, {svg, paint, lit});
paint();
el.append(svg);
"""
WALK = "{walk: {label: 'Parts', all: () => ['k1', 'k3'], tell: (name) => `is ${name}`}}"


@pytest.mark.parametrize(("place", "lit"), [(0, "q1 k1 k2"), (1, "q1 k1"), (2, "q1 k2"), (3, "k3"), (4, "")])
def test_pointing_at_a_part_lights_what_belongs_to_it(trial: Try, place: int, lit: str) -> None:
    page = trial(f"{RELATED} relations(svg)")
    page.locator("svg").hover(position={"x": 40 * place + 15, "y": 15})
    assert page.evaluate("lit()") == lit


def test_what_is_drawn_anew_is_lit_too(trial: Try) -> None:
    page = trial(f"{RELATED} relations(svg)")
    page.locator("svg").hover(position={"x": 15, "y": 15})
    page.evaluate("paint()")
    assert page.evaluate("lit()") == "q1 k1 k2"


def test_nothing_is_lit_once_the_pointer_has_left(trial: Try) -> None:
    page = trial(f"{RELATED} relations(svg, {{onlight: (name) => heard.push(name)}})")
    page.locator("svg").hover(position={"x": 15, "y": 15})
    page.mouse.move(500, 500)
    assert page.evaluate("[lit(), heard]") == ["", ["q1", None]]


def test_a_tap_lights_a_part_until_a_tap_elsewhere(trial: Try) -> None:
    page = trial(f"{RELATED} relations(svg)", has_touch=True)
    page.locator("svg").tap(position={"x": 55, "y": 15})
    assert page.evaluate("lit()") == "q1 k1"
    page.touchscreen.tap(400, 400)
    assert page.evaluate("lit()") == ""


def test_arrow_keys_go_through_the_parts(trial: Try) -> None:
    page = trial(f"{RELATED} relations(svg, {WALK})")
    parts = page.get_by_role("slider", name="Parts")
    for key, lit in [("Tab", "q1 k1"), ("ArrowRight", "k3"), ("ArrowRight", "k3"), ("Home", "q1 k1"), ("End", "k3")]:
        page.keyboard.press(key)
        assert page.evaluate("lit()") == lit
    expect(parts).to_have_attribute("aria-valuetext", "is k3")
    page.keyboard.press("Tab")
    assert page.evaluate("lit()") == ""


def test_a_part_that_has_the_focus_is_lit(trial: Try) -> None:
    page = trial(f"{RELATED} relations(svg); svg.lastChild.setAttribute('tabindex', 0)")
    page.evaluate("svg.lastChild.focus()")
    assert page.evaluate("lit()") == "k3"


def _contrast(first: str, second: str) -> float:
    def light(color: str) -> float:
        digits = color.lstrip("#")
        digits = "".join(c * 2 for c in digits) if len(digits) == 3 else digits
        parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    bright, dark = sorted([light(first), light(second)], reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["LIGHT", "DARK"])
def test_colours_have_contrast(repo: Path, theme: str) -> None:
    source = (repo / CORE / "style.js").read_text(encoding="utf-8")
    block = source.split(f"const {theme} = `")[1].split("`")[0]
    colors = dict(entry.split(":") for entry in block.replace("\n", "").split(";") if entry.startswith("--tb-"))
    hues = ["accent", "warm", "good", "bad", "violet"]
    texts = [("fg", "bg"), ("fg", "fill"), ("muted", "bg"), ("muted", "fill"), ("on-accent", "accent")]
    texts += [pair for hue in hues for pair in [(hue, "bg"), (hue, f"{hue}-soft"), ("fg", f"{hue}-soft")]]
    low = {(a, b): _contrast(colors[f"--tb-{a}"], colors[f"--tb-{b}"]) for a, b in texts}
    assert {pair: ratio for pair, ratio in low.items() if ratio < 4.5} == {}
    assert _contrast(colors["--tb-edge"], colors["--tb-bg"]) >= 3


def test_core_needs_no_document_to_load(repo: Path) -> None:
    node = Path(playwright.__file__).parent / "driver" / "node"
    address = json.dumps((repo / CORE / "index.js").as_uri())
    script = f"import * as core from {address}; console.log(Object.keys(core).length)"
    command = [str(node), "--input-type=module", "-e", script]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) > 10
