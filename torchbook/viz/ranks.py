"""RankStepper: four programs of collectives side by side, and where they end; the page runs them."""

from __future__ import annotations

import re
from functools import partial
from html import escape
from typing import Any

import traitlets

from torchbook.viz.base import Visualizer, contract

setup = partial(contract, "ranks")

_PROGRAMS = re.compile(r"((-?[aAbcCwx]){1,6}( (?=.)|$)){4}")


def calls(program: str) -> list[str]:
    """The calls that one rank makes; those with a "-" before them are removed."""
    known = setup()["calls"]
    return [
        f"{known[letter]['op']}{' ' * (letter == 'x')}{known[letter]['of']}" for letter in re.sub("-.", "", program)
    ]


class RankStepper(Visualizer):
    """Four ranks, each a short program of collectives on one group: who waits for whom, and where it ends.

    Args:
        programs: the programs of the ranks, a letter for a call (`calls` of the contract): `a`, `b` all-reduce a tensor,
            `A` one of twice the size, `c`, `C` broadcast from rank 0 or 1, `w` is a barrier, `x` an exception.
        step: how many steps are done; the end unless given.

    Raises:
        ValueError: there is no such preset.
        traitlets.TraitError: these are not four programs of one to six calls.

    Example:
        >>> RankStepper(programs="ab ab a ab").words
        'Rank 0: all_reduce(a), all_reduce(b). Rank 1: all_reduce(a), all_reduce(b). Rank 2: all_reduce(a). Rank 3: all_reduce(a), all_reduce(b).'
    """  # noqa: E501

    _speaks = False  # what is seen is said by the page alone
    programs = traitlets.Unicode(help="The four programs.").tag(sync=True)
    step = traitlets.Int(99, min=0, max=99, help="Steps that are done.").tag(sync=True)

    @traitlets.default("programs")
    def _start(self) -> str:
        return str(setup()["presets"]["skip"]["set"]["programs"])

    @traitlets.validate("programs")
    def _check_programs(self, proposal: Any) -> str:
        if not _PROGRAMS.fullmatch(proposal["value"]):
            raise traitlets.TraitError(f"programs must be four of one to six calls each, not {proposal['value']!r}")
        return str(proposal["value"])

    def _describe(self) -> str:
        every = enumerate(self.programs.split())
        return " ".join(f"Rank {rank}: {', '.join(calls(program)) or 'no call'}." for rank, program in every)

    def _draw(self) -> str:
        text = "".join(
            f'<text x="{rank * 130 + 8}" y="{22 * (row + 1)}">{escape(line)}</text>'
            for rank, program in enumerate(self.programs.split())
            for row, line in enumerate([f"rank {rank}", *calls(program)])
        )
        return (
            '<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 524 160" '
            'style="max-width:min(100%,524px);height:auto" font-family="system-ui,sans-serif" font-size="14" '
            f'fill="currentColor" aria-label="{escape(self.words)}">{text}</svg>'
        )
