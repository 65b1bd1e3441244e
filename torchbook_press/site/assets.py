"""What the pages load: taken from installed packages at build time, and no more than a page uses."""

from __future__ import annotations

import contextlib
import filecmp
import hashlib
import importlib.metadata
import importlib.resources
import itertools
import re
import shutil
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import tinycss2
from sphinx.application import Sphinx
from sphinx.util import logging

from torchbook_press.site.pages import pages_of

_log = logging.getLogger(__name__)
_TEMPLATES = Path(__file__).parent / "templates"
_MATHJAX = ("startup.js", "core.js", "input/tex.js", "input/tex/extensions", "output/chtml.js", "output/chtml/fonts")
_MATHJAX_CONFIG = {
    "loader": {"load": ["core", "input/tex", "output/chtml"]},
    "options": {"ignoreHtmlClass": "tex2jax_ignore", "processHtmlClass": "tex2jax_process|mathjax_process|math"},
    "tex": {"inlineMath": [["\\(", "\\)"]], "displayMath": [["\\[", "\\]"]]},
}
_ICON = re.compile(r'class="((?:[^"]*\s)?fa[srb]?\s[^"]*|[^"]*\bfa-(?:solid|regular|brands)\b[^"]*)"')
_STYLES = {
    "fa-solid": "solid",
    "fas": "solid",
    "fa": "solid",
    "fa-regular": "regular",
    "far": "regular",
    "fa-brands": "brands",
    "fab": "brands",
}
_NOT_ICONS = re.compile(r"fa-(solid|regular|brands|fw|lg|xs|sm|[0-9]+x|spin|pulse|inverse|stack.*)$")
# The theme's icon font: the faces, and a rule an icon.
_ICON_FONT = re.compile(r"@font-face\{[^{}]*fontawesome[^{}]*\}|(?:\.fa-[\w-]+:before,?)+\{[^{}]*\}", re.IGNORECASE)
# Style sheets most of whose rules are for what no page has.
_TRIMMED = ("styles/pydata-sphinx-theme.css", "mystnb.*.css", "sphinx-design.min.css")
_MARK = "/* without the rules for what no page has */"
_WORD = re.compile(r"[\w-]+")
_CLASS = re.compile(r"\.([\w-]+)")  # and what else follows a dot in a style sheet
_COMPOSED = ("bs-", "tooltip-", "popover-")  # classes that Bootstrap's script puts together
# The theme measures and marks every block of code in turn, and each mark makes the next measure lay out the page again.
_MARKS_IN_TURN = re.compile(r"\be\.tabIndex=(e\.scrollWidth>[^{}?]+\?0:-1)\}")
_MARKS_AT_ONCE = r"const t=\1;queueMicrotask(()=>{e.tabIndex=t})}"
# No page loads these: icons are drawn, a launched notebook is live, and the book has a search of its own.
_UNUSED = (
    *("scripts/fontawesome.js", "sphinx-thebe.js", "sphinx-thebe.css"),
    *("searchtools.js", "language_data.js", "sphinx_highlight.js"),
)
_DARK = 'html[data-theme="dark"]'
# What the theme's own scripts put on the page after it is built.
_LATER = {("solid", "check"), ("solid", "xmark")}


def package_folder(distribution: str, inside: str) -> Path:
    """A folder that an installed distribution ships.

    Raises:
        FileNotFoundError: the distribution is not installed, or has no such folder; the message says what to do.
    """
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        folder = Path(str(importlib.metadata.distribution(distribution).locate_file(inside)))
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"{distribution} with {inside} is not installed: pip install -r requirements.txt")


def _copy(source: Path, target: Path) -> None:
    """Copy a file or a folder, unless it is there already."""
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    elif not target.is_file() or not filecmp.cmp(source, target):
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def vendor(app: Sphinx, exception: Exception | None) -> None:
    """Lay MathJax, plotly.js and the icons that the pages use into the built site."""
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir, "_static")
    mathjax = package_folder("sphinx-mathjax-offline", "sphinx-mathjax-offline/static/mathjax")
    for part in _MATHJAX:
        _copy(mathjax / part, static / "vendor/mathjax" / part)
    plotly = importlib.resources.files("plotly") / "package_data" / "plotly.min.js"
    with importlib.resources.as_file(plotly) as path:
        _copy(path, static / "vendor/plotly.min.js")
    # Sphinx copies the book's own css and js only when a page has changed too.
    for folder in app.config.html_static_path:
        if Path(app.confdir, folder).is_dir():
            _copy(Path(app.confdir, folder), static)
    icons = set().union(*pages_of(app).each(icons_in).values())
    (static / "icons.css").write_text(icons_css(icons | _LATER), encoding="utf-8")
    _trim_styles(app, static)
    script = static / "scripts/pydata-sphinx-theme.js"
    if script.is_file():
        text = script.read_text(encoding="utf-8")
        script.write_text(_MARKS_IN_TURN.sub(_MARKS_AT_ONCE, text), encoding="utf-8")
    code = static / "pygments.css"
    if code.is_file():
        code.write_text(light_on_paper(code.read_text(encoding="utf-8")), encoding="utf-8")
    shutil.rmtree(static / "vendor/fontawesome", ignore_errors=True)
    for unused in _UNUSED:
        (static / unused).unlink(missing_ok=True)
    for left_over in (*static.rglob("*.map"), *static.glob("*macros.html"), *static.glob("*.js_t")):
        left_over.unlink()


def _trim_styles(app: Sphinx, static: Path) -> None:
    """Leave in the large style sheets what some page, or some script, can use."""
    originals = Path(app.doctreedir, "styles")
    sheets = {}
    for path in (path for pattern in _TRIMMED for path in sorted(static.glob(pattern))):
        original, text = originals / path.name, path.read_text(encoding="utf-8")
        if not text.startswith(_MARK):
            original.parent.mkdir(parents=True, exist_ok=True)
            original.write_text(text, encoding="utf-8")  # as Sphinx has just laid it there
        if original.is_file():
            sheets[path] = original.read_text(encoding="utf-8")
    names = frozenset(name for css in sheets.values() for name in _CLASS.findall(css))

    def used(text: str) -> frozenset[str]:
        return names.intersection(_WORD.findall(text))

    # Neither libraries, whose sheets are not trimmed, nor the texts that the search and the deck show, nor what
    # figures load.
    others = ("vendor", "search", "aside", "deck")
    scripts = (path for path in static.rglob("*.js") if path.relative_to(static).parts[0] not in others)
    words = {word for path in scripts for word in used(path.read_text(encoding="utf-8"))}
    words.update(*pages_of(app).each(used, key=_key(*sorted(names))).values())
    for path, css in sheets.items():
        path.write_text(_trimmed_before(originals, css, words), encoding="utf-8")


def _trimmed_before(folder: Path, css: str, words: Collection[str]) -> str:
    """A style sheet trimmed, as an earlier build kept it where sheet and words are the same: parsing takes a second."""
    path = folder / f"{_key(css, *sorted(words))}.css"
    if not path.is_file():
        path.write_text(f"{_MARK}\n{trimmed(_ICON_FONT.sub('', css), words)}", encoding="utf-8")
    return path.read_text(encoding="utf-8")


def _key(*texts: str) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()


def trimmed(css: str, words: Collection[str]) -> str:
    """A style sheet without the rules for classes that are not among the words of the site."""
    return "".join(_kept_rules(tinycss2.parse_stylesheet(css, skip_comments=True, skip_whitespace=True), words))


def _kept_rules(rules: list[Any], words: Collection[str]) -> Iterator[str]:
    for rule in rules:
        if rule.type == "qualified-rule":
            selectors = [selector for selector in _selectors(rule.prelude) if _can_match(selector, words)]
            if selectors:
                prelude = ",".join(tinycss2.serialize(selector).strip() for selector in selectors)
                yield f"{prelude}{{{tinycss2.serialize(rule.content)}}}"
        elif rule.type == "at-rule" and rule.lower_at_keyword in ("media", "supports") and rule.content is not None:
            inside = tinycss2.parse_rule_list(rule.content, skip_comments=True, skip_whitespace=True)
            nested = "".join(_kept_rules(inside, words))
            if nested:
                yield f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}{{{nested}}}"
        elif rule.type != "error":
            yield rule.serialize()


def _selectors(prelude: list[Any]) -> list[list[Any]]:
    """A list of selectors, taken apart at its commas."""
    selectors: list[list[Any]] = [[]]
    for token in prelude:
        if token == ",":
            selectors.append([])
        else:
            selectors[-1].append(token)
    return selectors


def _can_match(selector: list[Any], words: Collection[str]) -> bool:
    """Whether all classes of a selector are on the site; what stands in parentheses is not looked at."""
    classes = [b.value for a, b in itertools.pairwise(selector) if a == "." and b.type == "ident"]
    return all(name in words or name.startswith(_COMPOSED) for name in classes)


def light_on_paper(css: str) -> str:
    """The theme's colours of code, the dark ones for screens alone: on paper those of the light theme are left."""
    lines = css.replace('[data-theme="light"]', "[data-theme]").splitlines()
    return "".join(f"@media screen {{ {line} }}\n" if line.startswith(_DARK) else f"{line}\n" for line in lines)


def sweep(app: Sphinx, exception: Exception | None) -> None:
    """Remove what an earlier build left of pages that the book no longer has; Sphinx itself leaves them."""
    if exception or app.builder.format != "html":
        return
    out = Path(app.outdir)
    for folder in (out, out / "_sources", out / app.config.launch_notebooks["dir"]):
        for path in folder.glob("*/**/*.*"):
            name = path.relative_to(folder).with_suffix("").as_posix()
            if path.suffix in (".html", ".md", ".ipynb") and not _kept(app, folder, name):
                path.unlink()
    pictures = {name for _, name in app.env.images.values()}
    for path in (out / "_images").glob("*"):
        if path.name not in pictures:
            path.unlink()


def _kept(app: Sphinx, folder: Path, name: str) -> bool:
    """Whether a file in the built site belongs to a page, or is none of the pages' files."""
    elsewhere = folder == Path(app.outdir) and name.startswith(("_", app.config.launch_notebooks["dir"]))
    return elsewhere or name in app.env.found_docs


def icons_in(page: str) -> set[tuple[str, str]]:
    """The FontAwesome icons that a page names, as (style, name)."""
    icons = set()
    for classes in _ICON.findall(page):
        words = classes.split()
        style = next((_STYLES[word] for word in words if word in _STYLES), "solid")
        names = [word[3:] for word in words if word.startswith("fa-") and not _NOT_ICONS.match(word)]
        icons |= {(style, name) for name in names}
    return icons


def icons_css(icons: set[tuple[str, str]]) -> str:
    """A style sheet that draws each icon as a mask: no icon font, no script."""
    folder = package_folder("fontawesomefree", "fontawesomefree/static/fontawesomefree/svgs")
    rules = [
        ".fa,.fas,.far,.fab,.fa-solid,.fa-regular,.fa-brands{display:inline-block;width:1em;height:1em;"
        "background:currentColor;-webkit-mask:var(--icon) center/contain no-repeat;mask:var(--icon) center/contain "
        "no-repeat;vertical-align:-0.125em}"
    ]
    for style, name in sorted(icons):
        path = next(
            (p for n in (name, _OLD_NAMES.get(name, name)) if (p := folder / style / f"{n}.svg").is_file()), None
        )
        if path is None:
            _log.warning("no icon fa-%s in style %s: the page would show a blank", name, style, type="assets")
            continue
        svg = re.sub(r"<!--.*?-->", "", path.read_text(encoding="utf-8"))
        rules.append(f'.fa-{name}{{--icon:url("data:image/svg+xml,{quote(svg, safe=" =:/")}")}}'.replace("%22", "'"))
    return "\n".join(rules) + "\n"


# FontAwesome 4 and 5 names that themes still use.
_OLD_NAMES = {
    "search": "magnifying-glass",
    "pencil-alt": "pencil",
    "times": "xmark",
    "adjust": "circle-half-stroke",
    "expand-arrows-alt": "maximize",
    "file-alt": "file-lines",
    "exclamation-triangle": "triangle-exclamation",
    "info-circle": "circle-info",
}


def trim(app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: Any) -> None:
    """Take out of one page's scripts and styles what it does not use."""
    body = context.get("body", "")
    unused = ["sphinx-thebe", "thebe", "sphinx_highlight.js"]
    if "viz-mount" not in body:
        unused.append("viz-static.js")
    if "race-map" not in body:
        unused.append("race.js")
    if 'class="lanes"' not in body:
        unused.append("lanes.js")
    if 'class="math' not in body:
        unused += ["vendor/mathjax", "window.MathJax", "math.js"]
    if "sd-" not in body:
        unused += ["sphinx-design.min.css", "design-tabs.js"]

    def used(asset: Any) -> bool:
        text = f"{getattr(asset, 'filename', asset)} {getattr(asset, 'attributes', {}).get('body') or ''}"
        return not any(word in text.lower() for word in map(str.lower, unused))

    for files in ("script_files", "css_files"):
        context[files] = [asset for asset in context.get(files, []) if used(asset)]


def _configure(app: Sphinx, config: Any) -> None:
    # Themes add theirs to one list for all builds of a process.
    config.templates_path = [str(_TEMPLATES), *dict.fromkeys(config.templates_path)]
    config.mathjax_path = "vendor/mathjax/startup.js"
    config.mathjax3_config = _MATHJAX_CONFIG


def setup(app: Sphinx) -> None:
    app.connect("config-inited", _configure)
    app.connect("html-page-context", trim, priority=950)
    app.connect("build-finished", sweep)
    app.connect("build-finished", vendor, priority=600)
    app.add_css_file("icons.css")
    app.add_css_file("site.css")
    app.add_js_file("math.js", defer="defer")  # before MathJax itself, which Sphinx adds
    app.add_css_file("print.css", media="print")
    app.add_js_file("viz-static.js", defer="defer")
    app.add_js_file("activities.js", defer="defer")
    app.add_js_file("race.js", defer="defer")  # after what remembers the answer
    app.add_js_file("previews.js", defer="defer")
    app.add_js_file("arrive.js", defer="defer")
    app.add_js_file("progress.js", defer="defer")
