"""What a learner has tried and solved, in one JSON file on the learner's machine.

The file is `progress.json` in the user's data folder, or what `TORCHBOOK_PROGRESS` names. Nothing of it is sent
anywhere. Keeping it may fail (a read-only home): the functions then return a sentence that says so, and never raise.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import filelock
import platformdirs
import pydantic

FILE = "TORCHBOOK_PROGRESS"
_PATIENCE = 5.0  # seconds to wait for another kernel that is writing


class Record(pydantic.BaseModel):
    """What is known of one exercise; times are in UTC."""

    model_config = pydantic.ConfigDict(extra="allow")
    tries: int = pydantic.Field(default=0, ge=0)
    solved: datetime | None = None
    opened: datetime | None = None
    hints: list[int] = []

    @property
    def state(self) -> str:
        """In words: new, tried, solved, solution opened, or solved after the solution was opened."""
        if self.solved:
            return "solved, solution opened" if self.opened and self.opened <= self.solved else "solved"
        if self.opened:
            return "solution opened"
        return "tried" if self.tries else "new"


_Records = pydantic.TypeAdapter(dict[str, Record])


def path() -> Path:
    """The file, whether or not it exists."""
    override = os.environ.get(FILE)
    if override:
        return Path(override).expanduser()
    return platformdirs.user_data_path("torchbook", appauthor=False) / "progress.json"


def read() -> tuple[dict[str, Record], str]:
    """All records by the exercise's id, and a sentence for the learner where they could not be read, else ""."""
    file = path()
    try:
        return _Records.validate_json(file.read_bytes()), ""
    except FileNotFoundError:
        return {}, ""
    except ValueError:  # of pydantic, for what is not JSON, and for JSON of another form
        return {}, _moved_aside(file)
    except OSError as error:
        return {}, f"Earlier progress cannot be read ({error})."


def _moved_aside(file: Path) -> str:
    aside = file.with_name(f"{file.name}.unreadable-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
    try:
        file.replace(aside)
    except OSError as error:
        return f"Earlier progress cannot be read: {file} is damaged, and cannot be moved away ({error})."
    return f"Earlier progress could not be read: the file was damaged. It is now {aside}; a new one was begun."


def tried(exercise_id: str, *, solved: bool) -> str:
    """Count a check of an answer; the first success is kept. Returns a sentence where it cannot be kept, else ""."""

    def change(record: Record) -> None:
        record.tries += 1
        if solved and not record.solved:
            record.solved = datetime.now(UTC)

    return _change(exercise_id, change)


def hinted(exercise_id: str, number: int) -> str:
    """Keep that a hint was shown. Returns a sentence where it cannot be kept, else ""."""

    def change(record: Record) -> None:
        record.hints = sorted({*record.hints, number})

    return _change(exercise_id, change)


def opened(exercise_id: str) -> str:
    """Keep when the solution was first shown. Returns a sentence where it cannot be kept, else ""."""

    def change(record: Record) -> None:
        record.opened = record.opened or datetime.now(UTC)

    return _change(exercise_id, change)


def _change(exercise_id: str, change: Callable[[Record], None]) -> str:
    file = path()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with filelock.FileLock(f"{file}.lock", timeout=_PATIENCE):
            records, note = read()
            change(records.setdefault(exercise_id, Record()))
            _write(file, _Records.dump_json(records, indent=1))
    except (OSError, NotImplementedError) as error:  # the latter where a file system cannot lock
        return f"Your progress is not kept ({error}); {FILE} can name a file that can be written."
    return note


def _write(file: Path, content: bytes) -> None:
    """Replace the file in one step, so that nobody ever reads half of it."""
    temporary = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        temporary.write_bytes(content)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
