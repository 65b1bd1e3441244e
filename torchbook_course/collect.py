"""Downloads of a learning platform become one folder a student, by nbgrader's zip_collect.

    Moodle   "Download all submissions":   Anna Schmidt_48213_assignsubmission_file_/hw1.ipynb
    Canvas   "Download submissions":       schmidtanna_LATE_48213_1720345_hw1-2.ipynb
    folder   zips or notebooks named after students: anna.zip, anna.ipynb, anna/hw1.ipynb

A student's id is `Anna Schmidt_48213`, `schmidtanna_48213`, `anna`. Who a file is of, and when it came, is what the
platform wrote: the first part of a path that names a student, and the date in the platform's zip. What a student put
into a zip of their own says neither. Of several files of a student the latest counts, and no other is unpacked.
"""

from __future__ import annotations

import io
import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import IO, Literal

from nbgrader.apps.zipcollectapp import ZipCollectApp
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin
from traitlets.config import Config

from torchbook_course.config import quiet
from torchbook_course.handed_in import plain_name
from torchbook_course.submission import FILE_MB

Platform = Literal["moodle", "canvas", "folder"]
# Limits of what a student's own zips may take, all of them together.
DEPTH = 2  # zips in one another
MEMBERS = 5_000  # files
PACKED_MB = 2 * FILE_MB  # of the zip itself
UNPACKED_MB = 20  # of what is taken out of it: notebooks, and zips in it
LISTING = 1_000_000  # bytes of a zip's table of contents
NAMED = 20  # what is left out of a student's files is named up to here, then counted
_STUDENT = {
    "moodle": r"(?P<student_id>.+_\d+)_assignsubmission_(?:file|onlinetext)_?",
    "canvas": r"(?P<name>[^_]+)(?P<late>_LATE)?_(?P<number>\d+)_\d+_.+",
}
_TIME = "%Y-%m-%d %H:%M:%S UTC"


class CollectError(Exception):
    """A download cannot be collected; the message says what to do."""


class _TooMuchError(Exception):
    """A student's zips hold more than they may."""


@dataclass(frozen=True)
class Collected:
    """How many students' notebooks were collected, and what was left where it was."""

    students: int
    skipped: tuple[str, ...]


@dataclass(frozen=True)
class _Entry:
    """A file as the platform handed it out; `late` is the platform's own word."""

    path: PurePosixPath
    at: datetime
    size: int
    open: Callable[[], IO[bytes]]
    late: bool = False


def collect(
    downloads: Sequence[Path], platform: Platform, name: str, out: Path, late_from: datetime | None = None
) -> Collected:
    """Sort downloads into `<out>/<student>/<name>/<name>.ipynb`, with the time of each in `timestamp.txt`.

    Args:
        downloads: zips, folders or notebooks.
        platform: whose names the files bear.
        name: of the assignment.
        out: the folder of submissions.
        late_from: the first time that is late. What the platform itself calls late has this time at least.

    Raises:
        CollectError: a download is missing, is no zip, or holds nothing of this platform.
    """
    for download in downloads:
        if not download.exists():
            raise CollectError(f"{download}: no such file or folder")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".collect-", dir=out.parent) as temporary, ExitStack() as stack:
        skipped = list[str]()
        handed: dict[str, list[_Entry]] = {}
        for download in downloads:
            for entry in _entries(download, platform, stack):
                student, late = _student(entry.path, platform, name)
                if _hidden(entry.path):
                    continue
                if student:
                    at = max(entry.at, late_from) if late and late_from else entry.at
                    handed.setdefault(student, []).append(replace(entry, at=at, late=late))
                else:
                    skipped.append(str(entry.path))
        course, found = Path(temporary) / "course", 0
        for student, entries in handed.items():
            hands = _Hands(name)
            taken = hands.notebook(entries)
            if taken:
                try:
                    _lay(student, name, *taken, course)
                    found += 1
                except _BAD_ZIP as error:
                    skipped.append(f"the notebook of {student} ({error})")
            skipped += hands.named()
        if not found:
            hint = f"; left out: {', '.join(skipped[:3])}" if handed else ""
            raise CollectError(
                f"{', '.join(map(str, downloads))}: no notebook of a student as {platform} names it; "
                f"is --from right? See `torchbook course collect --help`{hint}"
            )
        _collect(name, course, out)
    return Collected(found, tuple(skipped))


def _student(path: PurePosixPath, platform: Platform, name: str) -> tuple[str | None, bool]:
    """Whose file this is, and whether the platform calls it late, by the outermost part that names a student."""
    if ".." in path.parts:
        return None, False
    if platform == "folder":
        *folders, last = path.parts
        stem = PurePosixPath(last).stem if last.endswith((".ipynb", ".zip")) else None
        named = next((part for part in folders if part != name), None if folders and stem == name else stem)
        return (plain_name(named) if named else None), False
    for part in path.parts:
        match = re.fullmatch(_STUDENT[platform], part)
        if match and platform == "canvas":
            return plain_name(f"{match['name']}_{match['number']}"), bool(match["late"])
        if match:
            return plain_name(match["student_id"]), False
    return None, False


def _entries(download: Path, platform: Platform, stack: ExitStack) -> Iterator[_Entry]:
    """The files of a download, as the platform handed them out: none is unpacked here."""
    if download.is_dir():
        for path in sorted(download.rglob("*")):
            if path.is_file() and not path.is_symlink():
                inside = PurePosixPath(path.relative_to(download).as_posix())
                if path.suffix == ".zip" and platform != "folder" and not _student(inside, platform, "")[0]:
                    yield from _entries(path, platform, stack)  # a download among others
                else:
                    yield _Entry(inside, _changed(path), path.stat().st_size, _opener(path))
    elif download.suffix == ".ipynb":
        yield _Entry(PurePosixPath(download.name), _changed(download), download.stat().st_size, _opener(download))
    else:
        try:
            archive = stack.enter_context(zipfile.ZipFile(download))
        except _BAD_ZIP as error:
            raise CollectError(f"{download}: not a zip that can be read ({error}); download it again") from None
        for member in archive.infolist():
            if not member.is_dir():
                yield _Entry(_path(member), _time(member), member.file_size, _unpacker(archive, member))


def _opener(path: Path) -> Callable[[], IO[bytes]]:
    return lambda: path.open("rb")


def _unpacker(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: archive.open(member)


def _path(member: zipfile.ZipInfo) -> PurePosixPath:
    return PurePosixPath(member.filename.replace("\\", "/").lstrip("/"))


def _hidden(path: PurePosixPath) -> bool:
    """Whether this is an editor's or a system's, of which nobody wants to hear."""
    return any(part.startswith((".", "__MACOSX")) and part != ".." for part in path.parts)


# One student's files, without trust: they are looked at before they are unpacked, in memory, up to limits, and no name
# in a zip is used as a path.


class _Hands:
    """What one student handed in."""

    def __init__(self, name: str) -> None:
        self._name, self._left = name, list[str]()
        self._members, self._bytes = 0, 0

    def notebook(self, entries: Iterable[_Entry]) -> tuple[datetime, IO[bytes]] | None:
        """The notebook that counts, and when it came: of the latest file that has one."""

        def rank(entry: _Entry) -> tuple[datetime, bool]:
            return entry.at, entry.path.suffix == ".ipynb"

        found: tuple[datetime, IO[bytes]] | None = None
        for entry in sorted(entries, key=rank, reverse=True):
            if entry.path.suffix not in (".ipynb", ".zip"):
                self._left.append(str(entry.path))
            elif found is None:
                content = self._content(entry)
                found = (entry.at, content) if content else None
            elif found[0] == entry.at:
                self._left.append(f"{entry.path} (came together with the one that was taken)")
        return found

    def named(self) -> list[str]:
        """What was left out, by name."""
        more = len(self._left) - NAMED
        return [*self._left[:NAMED], *([f"and {more} more in {self._left[0].split('/')[0]}"] if more > 0 else [])]

    def _content(self, entry: _Entry) -> IO[bytes] | None:
        zipped = entry.path.suffix == ".zip"
        most = PACKED_MB if zipped else FILE_MB * 2
        try:
            if entry.size > most * 1_000_000:
                raise _TooMuchError(f"{entry.size / 1e6:.0f} MB, more than {most}")
            if not zipped:
                return entry.open()
            with entry.open() as file:
                packed = file.read()
            text = self._in_zip(entry.path, packed, 1)
            return None if text is None else io.BytesIO(text)
        except (*_BAD_ZIP, _TooMuchError) as error:
            self._left.append(f"{entry.path} ({error})")
            return None

    def _in_zip(self, path: PurePosixPath, packed: bytes, depth: int) -> bytes | None:
        """The notebook in a zip: the one of the assignment's name, the outermost; else the first in a zip in it."""
        _look_at_listing(packed)
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            members = [(_path(member), member) for member in archive.infolist() if not member.is_dir()]
            self._members += len(members)
            if self._members > MEMBERS:
                raise _TooMuchError(f"more than {MEMBERS} files")

            def rank(pair: tuple[PurePosixPath, zipfile.ZipInfo]) -> tuple[bool, bool, int]:
                inside = pair[0]
                return inside.suffix != ".ipynb", inside.stem != self._name, len(inside.parts)

            found: bytes | None = None
            for inside, member in sorted(members, key=rank):
                if _hidden(inside):
                    continue
                if found is not None or ".." in inside.parts or inside.suffix not in (".ipynb", ".zip"):
                    self._left.append(f"{path}/{inside}")
                elif inside.suffix == ".zip" and depth >= DEPTH:
                    self._left.append(f"{path}/{inside} (more than {DEPTH} zips in one another)")
                else:
                    found = self._member(path / inside, archive, member, depth)
        return found

    def _member(
        self, path: PurePosixPath, archive: zipfile.ZipFile, member: zipfile.ZipInfo, depth: int
    ) -> bytes | None:
        try:
            self._bytes += member.file_size
            if self._bytes > UNPACKED_MB * 1_000_000:
                raise _TooMuchError(f"more than {UNPACKED_MB} MB in a student's zips; nothing more of them is unpacked")
            content = archive.read(member)  # a zip never gives more than its listing says
            return self._in_zip(path, content, depth + 1) if path.suffix == ".zip" else content
        except _BAD_ZIP as error:
            self._left.append(f"{path} ({error})")
            return None


def _look_at_listing(packed: bytes) -> None:
    """Refuse a zip whose table of contents is too long to be read; zipfile would read all of it."""
    end = packed.rfind(b"PK\x05\x06")
    size = int.from_bytes(packed[end + 12 : end + 16], "little") if end >= 0 else 0
    if size > LISTING or packed[max(end - 20, 0) : end].startswith(b"PK\x06\x07"):  # a locator of zip64
        raise _TooMuchError("more files than a submission can have")


_BAD_ZIP = (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error, ValueError)


def _changed(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _time(member: zipfile.ZipInfo) -> datetime:
    try:
        return datetime(*member.date_time).astimezone(UTC)
    except ValueError:
        return datetime.fromtimestamp(0, UTC)


# nbgrader's part.


class Extractor(ExtractorPlugin):
    """The files were unpacked already, so they are only moved on."""

    def extract(self, archive_path: str, extracted_path: str) -> None:
        shutil.copytree(archive_path, extracted_path, copy_function=shutil.move, dirs_exist_ok=True)


class Collector(FileNameCollectorPlugin):
    """Reads student and time from the path that unpacking gave, `<student>/<time>/<name>.ipynb`."""

    named_regexp = r".*/(?P<student_id>[^/]+)/(?P<timestamp>[^/]+)/(?P<file_id>[^/]+)\.ipynb$"


def _lay(student: str, name: str, at: datetime, content: IO[bytes], course: Path) -> None:
    folder = course / "downloaded" / name / "archive" / student / f"{at:{_TIME}}"
    folder.mkdir(parents=True)
    try:
        with content, (folder / f"{name}.ipynb").open("wb") as file:
            shutil.copyfileobj(content, file)
    except _BAD_ZIP:
        shutil.rmtree(folder.parent)
        raise


def _collect(name: str, course: Path, out: Path) -> None:
    config = Config()
    config.CourseDirectory.root = str(course)
    config.CourseDirectory.submitted_directory = str(out.resolve())
    config.CourseDirectory.directory_structure = "{nbgrader_step}/{student_id}/{assignment_id}"
    config.ZipCollectApp.extractor_plugin = Extractor
    config.ZipCollectApp.collector_plugin = Collector
    config.ZipCollectApp.force = True
    ZipCollectApp.clear_instance()
    app = ZipCollectApp(config=config, log=quiet())
    app.coursedir = CourseDirectory(parent=app, assignment_id=name)
    try:
        app.init_plugins()
        app.extract_archive_files()
        app.process_extracted_files()
    except SystemExit as error:
        raise CollectError(f"{out}: nbgrader could not put the submissions there ({error})") from None
