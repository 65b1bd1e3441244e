"""What test files read of the repository: with it `tests/kept.py` decides which passes may be kept.

An entry names folders and files, whole; of what a pattern fits, only the names count. The longest entry that fits a
test file counts; one that none covers depends on everything that git does not ignore.
"""

from __future__ import annotations

_LEARNERS = ("torchbook",)
_WHEEL = ("hatch_build.py", "README.md", "LICENSE")  # what it is made of, beside the package and the exercises
_LOCK = ("requirements.txt", "environment.yml", "_drift.yml")
_PRESS = ("torchbook", "torchbook_press", "torchbook_proofs", "web", "_config.yml")
_COURSE = ("torchbook", "torchbook_course", "torchbook_proofs")
_SHELF = "exercises/*/*"  # which knows exercises by the names of their folders, and reads one when asked for it
_INDEXING = "exercises/p01/x3-manual-indexing"  # the example of many tests
_HOMEWORK = (_SHELF, _INDEXING, "exercises/s04/x1-mixed-devices")
# Of the press, what makes sites: a site is printed anew when any exercise changes, whatever is on its pages.
_PRINTING = (
    *("deck", "exercises", "folder", "glossary", "hunts", "lanes", "listings", "plots"),
    *("seal", "search", "site", "success", "verdicts"),
)
EVERYTHING = (".",)  # all that git does not ignore
INPUTS: dict[str, tuple[str, ...]] = {
    "tests/course": (*_COURSE, *_HOMEWORK, "tests/course"),
    "tests/course/test_course_map.py": (
        *_COURSE,
        *_PRESS,
        "exercises",
        "book",
        "_toc.yml",
        "tests/course",
        "tests/press",
    ),
    "tests/course/test_secrets.py": (*_COURSE, "exercises", "tests/course"),
    "tests/data": (*_LEARNERS, "tests/data"),
    "tests/drawing": (*_PRESS, "tests/drawing", "tests/figures"),
    "tests/figures": (*_LEARNERS, "tests/figures"),
    "tests/kernels": (*_LEARNERS, "tests/kernels"),
    "tests/llm": (*_LEARNERS, "tests/llm"),
    "tests/llm/test_lora.py": (*_LEARNERS, "book/llm/l4-finetuning.md", "tests/llm"),
    "tests/practice": (*_LEARNERS, _SHELF, _INDEXING, "_config.yml", "tests/practice"),
    "tests/practice/test_exercise.py": (*_LEARNERS, "exercises", "_config.yml", "tests/practice"),
    **{
        f"tests/practice/test_{name}.py": (*_LEARNERS, "exercises", "tests/practice")
        for name in ("check", "hunts", "shelf", "terminal")
    },
    "tests/practice/test_wheel.py": (*_LEARNERS, *_WHEEL, "exercises", "_config.yml", "tests/practice"),
    "tests/press": (*_PRESS, *_LOCK, _SHELF, "tests/press"),
    **{f"tests/press/test_{name}.py": (*_PRESS, *_LOCK, "exercises", "tests/press") for name in _PRINTING},
    "tests/press/test_accessibility.py": EVERYTHING,  # that the tests exist which the page names
    "tests/press/test_bundle.py": (*_PRESS, *_LOCK, *_WHEEL, "exercises", "tests/press"),
    "tests/press/test_claims.py": (*_PRESS, "book", "_toc.yml", "tests/press"),
    "tests/press/test_drift.py": (*_PRESS, *_LOCK, "book", "_toc.yml", _SHELF, "tests/press"),
    "tests/press/test_glossary.py": (*_PRESS, *_LOCK, "book", "exercises", "tests/press"),
    "tests/press/test_lab.py": (*_PRESS, "book", "_toc.yml", "executed", _SHELF, "tests/press"),
    "tests/press/test_paper.py": (*_PRESS, "book", "_toc.yml", "executed", "_build/html", "exercises", "tests/press"),
    "tests/press/test_shake.py": (*_PRESS, *_LOCK, _SHELF, "book/claims/unbroken.yml", "tests/press"),
    "tests/press/test_record.py": (*_PRESS, *_LOCK, "exercises", "recordings", "tests/press"),
    "tests/viz": (*_PRESS, "tests/viz"),
    "tests/viz/models/test_symptoms.py": (*_PRESS, "book", "tests/viz"),
    "tests/viz/test_measuring.py": (*_PRESS, "tests/site/built.py", "tests/viz"),
}
