"""Regular expressions that Python and a browser read alike: a quiz's short answers are marked by both."""

from __future__ import annotations

import re

_COMMON = re.compile(
    r"""(?:
        [^\\\[\](){}*+?^$|.]                                # a character that stands for itself
      | \\[^\w\s] | \\[dDsSwW] | [.|)]
      | \[\^?(?:\\[^\w\s]|\\[dDsSwW]|[^\\\[\]])+\]           # a class, without a bare bracket in it
      | \((?:\?[:=!]|(?!\?))                                # a group, or a look ahead
      | (?:\^|\$|\\[bB])(?![*+?{])
      | (?:[*+?]|\{\d+(?:,\d*)?\})\??(?!\+)
    )*""",
    re.VERBOSE,
)


def is_common(pattern: str) -> bool:
    r"""Whether `re` and JavaScript's `RegExp` match the same ASCII texts with a pattern, if `re` compiles it.

    It may hold literals, classes, groups, look-ahead, alternatives, `^ $ \b \d \s \w` and quantifiers, greedy or not.
    Beyond ASCII, the browser's `\b`, `\d` and `\w` know no letters.
    """
    return _COMMON.fullmatch(pattern) is not None
