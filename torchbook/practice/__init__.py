"""Exercises at the learner's side: check an answer, open a hint, read the solution.

    from torchbook.practice import check

    check("p01-x3")          # what passes, and for the first failure what is behind it
    hint("p01-x3")           # the symptoms that there are hints for; hint("p01-x3", 2) shows the second
    solution("p01-x3")       # the reference
    exercises()              # all of them, and how far you are

`reference` hands the definitions of a reference to chapters that build on them. What was tried and solved is kept in
one file on this machine (`torchbook.practice.progress`).
"""

from torchbook.practice.learner import check, exercises, hint, hints, reference, solution
from torchbook.practice.learner_source import source_of

__all__ = ["check", "exercises", "hint", "hints", "reference", "solution", "source_of"]
