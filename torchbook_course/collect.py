"""Downloads of a learning platform become one folder a student, by nbgrader's zip_collect.

    Moodle   "Download all submissions":   Anna Schmidt_48213_assignsubmission_file_/hw1.ipynb
    Canvas   "Download submissions":       schmidtanna_LATE_48213_1720345_hw1-2.ipynb
    folder   zips or notebooks named after students: anna.zip, anna.ipynb, anna/hw1.ipynb

A student's id is `Anna Schmidt_48213`, `schmidtanna_48213`, `anna`. Of several files of a student the latest
counts; its time is that in the zip, or the file's own.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Literal

from nbgrader.apps.zipcollectapp import ZipCollectApp
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import ExtractorPlugin, FileNameCollectorPlugin
from traitlets.config import Config

from torchbook_course.config import quiet
from torchbook_course.handed_in import plain_name
from torchbook_course.submission import FILE_MB

Platform = Literal["moodle", "canvas", "folder"]
_NESTED = 1  # zips in a zip
_STUDENT = {
    "moodle": r"(?:.*/)?(?P<student_id>[^/]+_\d+)_assignsubmission_(?:file|onlinetext)_?/(?:.*/)?[^/]+\.ipynb$",
    "canvas": r"(?:.*/)?(?P<name>[^/_]+)(?:_LATE)?_(?P<number>\d+)_\d+_[^/]+\.ipynb$",
    "folder": r"(?:.*/)?(?P<student_id>[^/]+)\.ipynb$",
}
_TIME = "%Y-%m-%d %H:%M:%S UTC"


class CollectError(Exception):
    """A download cannot be collected; the message says what to do."""


@dataclass(frozen=True)
class Collected:
    """How many students' notebooks were collected, and what was left where it was."""

    students: int
    skipped: tuple[str, ...]


@dataclass(frozen=True)
class _File:
    """A notebook in a download: the path that names its student, and its content's place."""

    path: PurePosixPath
    at: datetime
    content: Path


def collect(downloads: Sequence[Path], platform: Platform, name: str, out: Path) -> Collected:
    """Sort downloads into `<out>/<student>/<name>/<name>.ipynb`, with the time of each in `timestamp.txt`.

    Raises:
        CollectError: a download is missing, is no zip, or holds nothing of this platform.
    """
    for download in downloads:
        if not download.exists():
            raise CollectError(f"{download}: no such file or folder")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".collect-", dir=out.parent) as temporary:
        room = Path(temporary)
        (room / "raw").mkdir()
        unpacking = _Unpacking(room / "raw")
        pairs = [(_student(f.path, platform, name), f) for download in downloads for f in unpacking.files(download)]
        skipped = [*unpacking.skipped, *(str(file.path) for student, file in pairs if student is None)]
        latest = {student: file for student, file in sorted(pairs, key=lambda pair: pair[1].at) if student}
        if not latest:
            raise CollectError(
                f"{', '.join(map(str, downloads))}: no notebook of a student as {platform} names it; "
                "is --from right? See `torchbook course collect --help`"
            )
        _collect(latest, name, room / "course", out)
    return Collected(len(latest), tuple(skipped))


def _student(path: PurePosixPath, platform: Platform, name: str) -> str | None:
    match = re.match(_STUDENT[platform], path.as_posix())
    if not match:
        return None
    if platform == "canvas":
        return plain_name(f"{match['name']}_{match['number']}")
    if platform == "folder" and len(path.parts) > 1:
        return next((plain_name(part) for part in path.parts[:-1] if part != name), None)
    return plain_name(match["student_id"])


# Unpacking, without trust: sizes are limited, and no name in a zip is used as a path.


class _Unpacking:
    """Unpacks downloads into a room; `skipped` names what is no notebook or could not be read."""

    def __init__(self, room: Path) -> None:
        self.room, self.skipped = room, list[str]()
        self._made = 0

    def files(self, download: Path) -> Iterator[_File]:
        """The notebooks of a download."""
        if download.is_dir():
            for path in sorted(download.rglob("*")):
                if path.is_file() and not path.is_symlink():
                    relative = PurePosixPath(path.relative_to(download).as_posix())
                    yield from self._file(relative, _changed(path), path, 0)
        elif download.suffix == ".ipynb":
            yield _File(PurePosixPath(download.name), _changed(download), download)
        else:
            try:
                yield from self._members(PurePosixPath(), download, 0)
            except _BAD_ZIP as error:
                raise CollectError(f"{download}: not a zip that can be read ({error}); download it again") from None

    def _file(self, path: PurePosixPath, at: datetime, content: Path, depth: int) -> Iterator[_File]:
        if any(part.startswith((".", "__MACOSX")) for part in path.parts):
            return
        if path.suffix == ".ipynb":
            yield _File(path, at, content)
        elif path.suffix == ".zip" and depth <= _NESTED:
            try:
                yield from self._members(path.with_suffix(""), content, depth + 1)
            except _BAD_ZIP as error:
                self.skipped.append(f"{path} ({error})")
        else:
            self.skipped.append(str(path))

    def _members(self, inside: PurePosixPath, packed: Path, depth: int) -> Iterator[_File]:
        with zipfile.ZipFile(packed) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            if depth and sum(member.file_size for member in members) > FILE_MB * 2_000_000:
                raise zipfile.BadZipFile(f"more than {FILE_MB * 2} MB inside")
            for member in members:
                path = inside / PurePosixPath(member.filename.replace("\\", "/").lstrip("/"))
                yield from self._file(path, _time(member), self._unpacked(archive, member), depth)

    def _unpacked(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Path:
        self._made += 1
        content = self.room / str(self._made)
        if member.file_size <= FILE_MB * 2_000_000:
            with archive.open(member) as source, content.open("wb") as file:
                shutil.copyfileobj(source, file)
        else:
            content.touch()
        return content


_BAD_ZIP = (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, zlib.error)


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
        shutil.copytree(archive_path, extracted_path, dirs_exist_ok=True)


class Collector(FileNameCollectorPlugin):
    """Reads student and time from the path that unpacking gave, `<student>/<time>/<name>.ipynb`."""

    named_regexp = r".*/(?P<student_id>[^/]+)/(?P<timestamp>[^/]+)/(?P<file_id>[^/]+)\.ipynb$"


def _collect(latest: dict[str, _File], name: str, course: Path, out: Path) -> None:
    for student, file in latest.items():
        folder = course / "downloaded" / name / "archive" / student / f"{file.at:{_TIME}}"
        folder.mkdir(parents=True)
        shutil.copyfile(file.content, folder / f"{name}.ipynb")
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
