"""The text of what a learner defined: complete enough to run alone, or a clear sentence."""

from __future__ import annotations

import linecache
import subprocess
import sys
from itertools import count
from typing import Any

import pytest

from torchbook.practice import source_of
from torchbook.practice.learner_source import SourceError

_numbers = count()


def cells(*sources: str) -> dict[str, Any]:
    """What a notebook has after these cells: its names, with the source of each cell where IPython keeps it."""
    names: dict[str, Any] = {"__name__": "__main__", "In": list(sources)}
    for source in sources:
        file = f"<cell {next(_numbers)}>"
        linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
        exec(compile(source, file, "exec"), names)
    return names


def says(source: str, call: str) -> str:
    """What a process of its own prints of a call."""
    completed = subprocess.run([sys.executable, "-I", "-c", f"{source}\nprint({call})"], capture_output=True, text=True)
    assert completed.returncode == 0, f"{source}\n{completed.stderr}"
    return completed.stdout.strip()


def test_a_function_and_the_prelude() -> None:
    names = cells("import math", "x = 1\n\n\ndef f(a):\n    return math.floor(a)\n\n\ny = 2")
    assert source_of(["f"], names, "import math\n") == "import math\n\n\ndef f(a):\n    return math.floor(a)\n"


def test_helpers_come_along_through_other_helpers_and_round_in_circles() -> None:
    names = cells(
        "def even(n):\n    return n == 0 or odd(n - 1)",
        "def odd(n):\n    return n != 0 and even(n - 1)",
        "def unused():\n    pass",
        "def f(n):\n    return [even(i) for i in range(n)]",
    )
    source = source_of(["f"], names)
    assert says(source, "f(3)") == "[True, False, True]"
    assert "unused" not in source


def test_imports_of_the_notebook_come_along() -> None:
    names = cells(
        "import os.path as p, json\nfrom collections import Counter as C\nfrom math import pi",
        "def f():\n    return json.dumps([p.basename('a/b'), C('aa')['a'], round(pi)])",
    )
    assert says(source_of(["f"], names), "f()") == '["b", 2, 3]'


def test_constants_come_along_with_their_value_of_now() -> None:
    names = cells("SIZE = 3\nNAMES = ('a', None)", "SIZE = SIZE + 1", "def f():\n    return SIZE, NAMES")
    assert says(source_of(["f"], names), "f()") == "(4, ('a', None))"


def test_what_is_run_when_defining_comes_before() -> None:
    names = cells(
        "class Base:\n    x = 1",
        "START = 5",
        "class A(Base):\n    def y(self, by=START):\n        return self.x + by",
    )
    assert says(source_of(["A"], names), "A().y()") == "6"


def test_a_decorator_that_hides_what_it_decorates() -> None:
    names = cells("def twice(g):\n    return lambda: 2 * g()", "@twice\ndef f():\n    return 4")
    assert says(source_of(["f"], names), "f()") == "8"
    del names["In"]
    with pytest.raises(SourceError, match="the source of `f` cannot be had"):
        source_of(["f"], names)


def test_a_decorator_with_wraps_is_kept() -> None:
    names = cells(
        "import functools",
        "def twice(g):\n    @functools.wraps(g)\n    def inner():\n        return 2 * g()\n    return inner",
        "@twice\ndef f():\n    return 4",
    )
    assert says(source_of(["f"], names), "f()") == "8"


def test_a_class_without_methods_is_found_in_the_notebook_s_cells() -> None:
    names = cells("class A:\n    x = 1", "import dataclasses", "@dataclasses.dataclass\nclass A:\n    x: int = 2\n")
    assert says(source_of(["A"], names), "A().x") == "2"


@pytest.mark.parametrize("member", ["@property\n    def x(self): ...", "@classmethod\n    def x(cls): ..."])
def test_any_kind_of_method_is_enough_to_find_a_class(member: str) -> None:
    names = cells(f"class A:\n    {member}\n    y = 1\n")
    del names["In"]
    assert says(source_of(["A"], names), "A().y") == "1"


def test_the_last_definition_counts() -> None:
    names = cells("def f():\n    return 1", "def f():\n    return 2")
    assert says(source_of(["f"], names), "f()") == "2"


def test_a_lambda_with_a_name_and_an_alias() -> None:
    names = cells("square = lambda x: x * x\n", "def one():\n    return 1\n\n\nother = one")
    assert says(source_of(["square", "other"], names), "square(3) + other()") == "10"


def test_a_local_name_is_not_taken_for_the_notebook_s() -> None:
    names = cells("t = object()", "def f(n):\n    t = n\n    return [t for _ in range(2)]")
    assert says(source_of(["f"], names), "f(1)") == "[1, 1]"


def test_names_of_annotations_are_imported() -> None:
    names = cells("from fractions import Fraction", "def f(a: Fraction) -> Fraction:\n    return a")
    assert says(source_of(["f"], names), "f(1)") == "1"


def test_a_quiz_s_answers_are_a_constant() -> None:
    assert source_of(["s04_x1"], {"s04_x1": {"a": "b"}}) == "s04_x1 = {'a': 'b'}\n"


def test_what_has_no_source_is_said_with_its_user() -> None:
    names = cells("weights = object()", "def f():\n    return weights")
    with pytest.raises(SourceError, match=r"`f` uses `weights`, whose source cannot be had \(its type is object\)"):
        source_of(["f"], names)


def test_a_function_without_source_is_said() -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec("def f(): pass", names)
    with pytest.raises(SourceError, match="the source of `f` cannot be had; define it with `def`"):
        source_of(["f"], names)
