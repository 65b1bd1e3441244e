"""Checks that say more when they refuse: the line that failed, the values there, what answer and reference gave.

For instructors alone. It is the text of an exercise's checks that is changed, so that they run in the box as always.
"""

from __future__ import annotations

import ast

from torchbook.practice.harness import FIXTURES

MARK = "\n--- the case\n"  # between a check's own message and the case

# Stands behind the checks, whose line numbers it must not move. It looks at no frame, which the box would refuse.
_TELLS = '''

class _TellsCase(AssertionError):
    pass


def _tells_text(value, most=240):
    try:
        text = " ".join(repr(value).split())
    except Exception as error:
        text = f"<{type(value).__name__}: {type(error).__name__} in its repr>"
    return text if len(text) <= most else text[:most] + " …"


def _tells_copy(value):
    import copy

    try:
        return copy.deepcopy(value)
    except Exception:
        return value


class _TellsCall:
    """The last call of the answer's functions."""

    name = given = kept = result = reference = None


def _tells_watched(name, function, reference):
    import functools
    import inspect

    if not inspect.isfunction(function):
        return function

    @functools.wraps(function)
    def call(*args, **kwargs):
        last = _TellsCall
        given = [_tells_text(a, 120) for a in args] + [f"{k}={_tells_text(v, 120)}" for k, v in kwargs.items()]
        last.name, last.given, last.result = name, ", ".join(given), "nothing: it did not return"
        last.kept, last.reference = _tells_copy((args, kwargs)), getattr(reference, name, None)
        result = function(*args, **kwargs)
        last.result = _tells_text(result)
        return result

    return call


def _tells(error, values, asked):
    import types

    said = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
    lines = []
    statement = _TELLS_LINES.get(error.__traceback__.tb_lineno if error.__traceback__ else 0)
    if statement:
        lines.append(f"the check's line: {statement}")
    skipped = (types.ModuleType, types.FunctionType, types.SimpleNamespace, type)
    there = [
        f"{name} = {_tells_text(value)}"
        for name, value in values.items()
        if name not in asked and not name.startswith("_") and not isinstance(value, skipped) and value is not error
    ]
    lines += [f"there: {line}" for line in there[:8]]
    last = _TellsCall
    if last.name:
        lines.append(f"{last.name}({last.given}) gave {last.result}")
        if last.reference:
            try:
                gives = _tells_text(last.reference(*last.kept[0], **last.kept[1]))
            except Exception as raised:
                gives = f"raises {type(raised).__name__}: {raised}"
            lines.append(f"the reference gives {gives}")
    return _TellsCase((said or "the check does not hold") + MARK_ + "\\n".join(lines))

'''


def telling(checks: str) -> str:
    """The source of checks whose messages carry, after `MARK`, the case that they refuse.

    Raises:
        SyntaxError: the source is not Python.
    """
    tree = ast.parse(checks)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            _wrap(node)
    text = ast.unparse(ast.fix_missing_locations(tree))
    return f"{text}\n{_TELLS}\nMARK_ = {MARK!r}\n_TELLS_LINES = {_lines(text)!r}\n"


def _wrap(check: ast.FunctionDef) -> None:
    """Watch the answer's functions in a check, and catch what it raises."""
    asked = [argument.arg for argument in (*check.args.args, *check.args.kwonlyargs)]
    if "reference" not in asked:
        check.args.kwonlyargs.append(ast.arg("reference"))
        check.args.kw_defaults.append(None)
    watched = [f"{name} = _tells_watched({name!r}, {name}, reference)" for name in asked if name not in FIXTURES]
    handlers = ast.parse(
        "try:\n    pass\nexcept (NotImplementedError, _TellsCase):\n    raise\nexcept Exception as _error:\n"
        f"    raise _tells(_error, dict(locals()), {[*asked, 'reference']!r}) from None"
    ).body[0]
    assert isinstance(handlers, ast.Try)
    handlers.body = check.body
    check.body = [*ast.parse("\n".join([*watched, "_TellsCall.name = None"])).body, handlers]


def _lines(text: str) -> dict[int, str]:
    """The innermost statement at each line, on one line."""
    found: dict[int, str] = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Assert | ast.Expr | ast.Assign | ast.AugAssign | ast.Raise | ast.Return):
            shown = ast.unparse(ast.Assert(node.test)) if isinstance(node, ast.Assert) else ast.unparse(node)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1):
                found[line] = " ".join(shown.split())
    return found
