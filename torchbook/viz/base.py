"""What all visualizers share on the Python side: contract, traits, bundled module and style, words, a static picture.

A figure's contract is `src/<figure>/setup.json`, which its ES module reads too. `<figure>` is the name of the module in
which the class stands. In it are

- `title` (its spoken name), `finding` (what it shows), `invitation` (what to do first) and `help` (how it is used);
- `fields`: numbers that the reader sets, each with `label`, `value` (the default; `null` is none), `low`, `high`,
  `whole`, `unit` and `help`;
- `choices`: what is chosen from a list, each with `label`, `value`, `help` and `of`: pairs of value and label, or the
  name of another part of the contract, whose keys are the values;
- `presets`: ready states, each with `label`, `note` and, where Python knows it by its name too, `set`: the fields and
  choices that are not as by default, and `model`, an entry of `models` whose `shape` comes first.

Whatever else stands there is the figure's own.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from functools import cache
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import anywidget
import traitlets

from torchbook.viz.units import several

_FOLDER = Path(__file__).parent
_BUILT = _FOLDER / "static"


@cache
def contract(figure: str) -> dict[str, Any]:
    """The contract of a figure, as it stands in `src/<figure>/setup.json`."""
    return json.loads(_contract_of(figure).read_text(encoding="utf-8"))


def _contract_of(figure: str) -> Path:
    return _FOLDER / "src" / figure / "setup.json"


def settings(of: Mapping[str, Any]) -> dict[str, Any]:
    """The entries of a contract's fields and choices, by name."""
    return {**of.get("fields", {}), **of.get("choices", {})}


def defaults(of: Mapping[str, Any]) -> dict[str, Any]:
    """What a contract's fields and choices are unless something else is given."""
    return {name: entry["value"] for name, entry in settings(of).items()}


def values(of: Mapping[str, Any], choice: str) -> list[Any]:
    """What may be chosen for a choice of a contract."""
    among = of["choices"][choice]["of"]
    if isinstance(among, list):
        return [value for value, *_ in among]
    return [*(of[among] if isinstance(among, str) else among)]


def named(entries: Mapping[str, Any], name: str, what: str) -> Any:
    """The entry of a name, in which `_` may stand for `-`.

    Args:
        entries: those that there are.
        name: which one.
        what: what they are called: "preset".

    Raises:
        ValueError: there is none; the message says which there are.
    """
    entry = entries.get(name.replace("_", "-"))
    if entry is None:
        raise ValueError(f"no {what} is called {name!r}; there are {', '.join(entries)}")
    return entry


def preset_of(of: Mapping[str, Any], name: str) -> dict[str, Any]:
    """The state that a preset of a contract sets: what it says, over its model's shape, over the defaults.

    Raises:
        ValueError: there is no such preset or model.
    """
    preset = named(of.get("presets", {}), name, "preset")
    shape = named(of["models"], preset["model"], "model")["shape"] if "model" in preset else {}
    return {**defaults(of), **shape, **preset.get("set", {})}


# Traits that say kindly what they take


class Whole(traitlets.Int[int, Any]):
    """A whole number within a range; a float without a fraction is one too."""

    def __init__(self, default: int | None, low: int | None = None, high: int | None = None, **more: Any) -> None:
        super().__init__(default, min=low, max=high, allow_none=default is None, **more)  # type: ignore[arg-type]

    def validate(self, obj: Any, value: Any) -> int:
        if _within(self, value) and value % 1 == 0:
            return int(value)
        raise traitlets.TraitError(f"{self.name} must be {_range('a whole number', self)}, not {value!r}")


class Number(traitlets.Float[float, Any]):
    """A number within a range."""

    def __init__(self, default: float | None, low: float | None = None, high: float | None = None, **more: Any) -> None:
        super().__init__(default, min=low, max=high, allow_none=default is None, **more)  # type: ignore[arg-type]

    def validate(self, obj: Any, value: Any) -> float:
        if _within(self, value):
            return float(value)
        raise traitlets.TraitError(f"{self.name} must be {_range('a number', self)}, not {value!r}")


class Choice(traitlets.Enum[Any]):
    """One of some values; of texts, capitals do not count."""

    def validate(self, obj: Any, value: Any) -> Any:
        known = self.values or ()
        for one in known:
            if one == value or (isinstance(one, str) and isinstance(value, str) and one.lower() == value.lower()):
                return one
        raise traitlets.TraitError(f"{self.name} must be one of {', '.join(map(str, known))}, not {value!r}")


def _within(trait: Whole | Number, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    number: Any = value
    low = -float("inf") if trait.min is None else trait.min
    high = float("inf") if trait.max is None else trait.max
    return bool(low <= number <= high)


def _range(kind: str, trait: Whole | Number) -> str:
    if trait.min is None:
        return kind
    if trait.max is None:
        return f"{kind} of at least {_brief(trait.min)}"
    return f"{kind} from {_brief(trait.min)} to {_brief(trait.max)}"


def _brief(x: float) -> str:
    return f"{x:g}" if float(f"{x:g}") == x else str(x)


def _traits(of: Mapping[str, Any]) -> dict[str, traitlets.TraitType[Any, Any]]:
    """The traits that follow from a contract, by name."""
    made: dict[str, traitlets.TraitType[Any, Any]] = {}
    for name, field in of.get("fields", {}).items():
        kind = Whole if field["whole"] else Number
        made[name] = kind(field["value"], field["low"], field["high"], help=field["help"])
    for name, choice in of.get("choices", {}).items():
        if isinstance(choice["value"], bool):
            made[name] = traitlets.Bool(choice["value"], help=choice["help"])
        else:
            made[name] = Choice(values(of, name), choice["value"], help=choice["help"])
    return {name: trait.tag(sync=True) for name, trait in made.items()}


def _documented(doc: str, of: Mapping[str, Any], traits: Mapping[str, traitlets.TraitType[Any, Any]]) -> str:
    """A docstring whose `Args` also name what follows from the contract."""
    lines = [
        f"{name}: {trait.help} {_takes(trait)}; {trait.default_value!r} unless given." for name, trait in traits.items()
    ]
    if any("set" in preset for preset in of.get("presets", {}).values()):
        lines.insert(0, f"preset: name of a ready state: {', '.join(of['presets'])}.")
    lines.append("link: name of the figure in links, unique on the page.")
    listed = "".join(f"\n    {line}" for line in lines)
    text = inspect.cleandoc(doc)
    before, title, after = text.partition("\n\nArgs:\n")
    if title:
        own, end, after = after.partition("\n\n")
        return f"{before}{title}{own}{listed}{end}{after}"
    section = re.search(r"\n\n(?:Attributes|Raises|Example):\n", text)
    place = section.start() if section else len(text)
    return f"{text[:place]}\n\nArgs:{listed}{text[place:]}"


def _takes(trait: traitlets.TraitType[Any, Any]) -> str:
    if isinstance(trait, Whole | Number):
        return _range("A whole number" if isinstance(trait, Whole) else "A number", trait)
    return several([repr(value) for value in getattr(trait, "values", None) or (True, False)]).replace(" and ", " or ")


class Visualizer(anywidget.AnyWidget):
    """An anywidget whose state is also said in words and drawn as a static picture.

    A subclass gives `_describe` and `_draw`, and traits where its state is more than the fields and choices of its
    contract, from which their traits, their ranges, the presets and the bundled module follow. On the plain page, on
    paper and without JavaScript the reader gets `picture` and `words`; the ES module keeps `words` current when live.

    Args:
        preset: name of a ready state of the contract.
        traits: all else that is set; it changes the preset.

    Attributes:
        contract: what stands in the figure's `setup.json`.
        setting: the values of its fields and choices.

    Raises:
        ValueError: there is no such preset.
        traitlets.TraitError: a value is out of its range.
    """

    _css = ""
    contract: ClassVar[Mapping[str, Any]] = {}
    _speaks: ClassVar[bool] = True  # are words and picture made anew in Python with every change?
    words = traitlets.Unicode("", help="The state in words.").tag(sync=True)
    link = traitlets.Unicode("", help="Name of this figure in links to its states; unique on the page.").tag(sync=True)
    picture = traitlets.Unicode("", help="The state as SVG text, as it was when the cell ran.").tag(sync=True)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The traits that follow from the contract."""

    def __init_subclass__(cls, **more: Any) -> None:
        figure = cls.__module__.rpartition(".")[2]
        if Visualizer in cls.__bases__ and _contract_of(figure).is_file():
            cls._esm = module(figure)
            cls.contract = cls.__dict__.get("contract") or contract(figure)
            made = _traits(cls.contract)
            for name, trait in made.items():
                setattr(cls, name, trait)
                trait.class_init(cls, name)
            if cls.__doc__:
                cls.__doc__ = _documented(cls.__doc__, cls.contract, made)
        super().__init_subclass__(**more)

    def __init__(self, *, preset: str | None = None, **traits: Any) -> None:
        super().__init__(**{**({} if preset is None else preset_of(self.contract, preset)), **traits})
        self._follow()
        if self._speaks:
            own = self.trait_names(sync=True, read_only=lambda fixed: not fixed)
            self.observe(self._follow, [name for name in own if name not in Visualizer._traits])

    @property
    def setting(self) -> dict[str, Any]:
        """What the reader sets, by name: the fields and choices of the contract."""
        return {name: getattr(self, name) for name in settings(self.contract)}

    def _follow(self, change: Any = None) -> None:
        """Words and picture follow what has changed."""
        self.words = self._describe()
        self.picture = self._draw()

    def _describe(self) -> str:
        """The state in one or two sentences."""
        raise NotImplementedError

    def _draw(self) -> str:
        """The state as a self-contained SVG, legible in light and dark."""
        raise NotImplementedError


def module(name: str) -> Path:
    """The bundled ES module of a visualizer.

    Raises:
        FileNotFoundError: it was never bundled; the message says how.
    """
    path = _BUILT / f"{name}.js"
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: `make viz` bundles it from torchbook/viz/src")
    return path
