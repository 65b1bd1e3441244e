"""How nbgrader is set up for a course: it keeps the books and never runs a student's code.

A course's `nbgrader_config.py` consists of two lines, so that the formgrader and the command line of nbgrader do as
`torchbook course grade` does:

    from torchbook_course.config import configure
    configure(get_config(), __file__)
"""

from __future__ import annotations

import logging
import os
import sys
import warnings
from pathlib import Path

from traitlets.config import Config

LOGGER = "torchbook.nbgrader"
_OURS = "torchbook_course.preprocess"
_NBGRADERS = "nbgrader.preprocessors"
GENERATE = (
    f"{_NBGRADERS}.IncludeHeaderFooter",
    f"{_NBGRADERS}.LockCells",
    "torchbook_course.notebooks.Stubs",
    f"{_NBGRADERS}.ClearOutput",
    f"{_NBGRADERS}.CheckCellMetadata",
    f"{_NBGRADERS}.ComputeChecksums",
    f"{_NBGRADERS}.SaveCells",
    f"{_NBGRADERS}.ClearHiddenTests",
    f"{_NBGRADERS}.ComputeChecksums",
    f"{_NBGRADERS}.CheckCellMetadata",
)
AUTOGRADE = (
    f"{_OURS}.RunTests",
    f"{_NBGRADERS}.SaveAutoGrades",
    f"{_NBGRADERS}.AssignLatePenalties",
    f"{_NBGRADERS}.CheckCellMetadata",
)
FEEDBACK = (
    f"{_NBGRADERS}.GetGrades",
    f"{_NBGRADERS}.ClearHiddenTests",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
)


def configure(config: Config, beside: str | Path) -> Config:
    """Set nbgrader up for the course in whose folder the file `beside` lies."""
    config.CourseDirectory.root = str(Path(beside).resolve().parent)
    config.GenerateAssignment.preprocessors = list(GENERATE)
    config.Autograde.autograde_preprocessors = list(AUTOGRADE)
    config.GenerateFeedback.preprocessors = list(FEEDBACK)
    config.AssignLatePenalties.plugin_class = f"{_OURS}.LatePolicy"
    return config


def quiet(log: Path | None = None) -> logging.Logger:
    """Prepare for nbgrader in this process: a logger that writes to a file, or nowhere, for it to use.

    SQLAlchemy's one complaint about it is silenced, and `alembic`, which it calls by that name, is made to be found.
    """
    from sqlalchemy.exc import SAWarning

    tools = str(Path(sys.executable).parent)
    if tools not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([tools, os.environ.get("PATH", "")])
    warnings.filterwarnings("ignore", category=SAWarning, module=r"nbgrader\..*")
    logger = logging.getLogger(LOGGER)
    logger.propagate = False
    for handler in list(logger.handlers):
        logger.removeHandler(handler)
        handler.close()
    logger.addHandler(logging.FileHandler(log, mode="w", encoding="utf-8") if log else logging.NullHandler())
    return logger
