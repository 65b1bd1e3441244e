"""The repository as a whole: its files agree with each other, and a clone holds nothing that belongs elsewhere."""

from __future__ import annotations

import ast
import importlib.metadata
import importlib.util
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import torchbook
from torchbook import runtime
from torchbook_press.chapters import chapters
from torchbook_press.site.moved import former_names

ROOT = Path(__file__).resolve().parents[1]
MB = 1_000_000


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def files() -> tuple[str, ...]:
    """What git holds, or would with `git add --all`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip(reason="not a git clone")
    return tuple(sorted(name for name in set(done.stdout.split("\0")) if name and (ROOT / name).is_file()))


def texts() -> Iterator[tuple[str, str]]:
    for name in files():
        try:
            yield name, text(name)
        except UnicodeDecodeError:
            continue


@cache
def pyproject() -> dict[str, Any]:
    return tomllib.loads(text("pyproject.toml"))


@cache
def config() -> dict[str, Any]:
    return dict(yaml.safe_load(text("_config.yml")))


# What a clone holds.


def test_no_file_is_larger_than_a_megabyte() -> None:
    assert [name for name in files() if (ROOT / name).stat().st_size > MB] == []


def test_no_static_folder_at_the_root() -> None:
    """Jupyter Book would load all of it on every page."""
    assert [name for name in files() if name.startswith("_static/")] == []


def test_nothing_that_the_press_makes_is_committed() -> None:
    assert [name for name in files() if name.startswith(("executed/", "_build/", ".cache/"))] == []


# Put together from parts, so that this file does not name them.
FORBIDDEN = {
    "a package registry": re.compile(
        "|".join(
            re.escape(".".join(parts))
            for parts in (
                ("pypi", "org"),
                ("pypi", "python", "org"),
                ("files", "pythonhosted", "org"),
                ("registry", "npmjs"),
                ("download", "pytorch", "org"),
                ("deb", "debian", "org"),
                ("conda", "anaconda", "org"),
            )
        ),
        re.IGNORECASE,
    ),
    "a folder of one machine": re.compile(
        rf"(?<![\w.$}}~*/-])/(?:{'|'.join(('wor' + 'k', 'far' + 'm', 'ho' + 'me'))})/"
    ),
}


@pytest.mark.parametrize("pattern", FORBIDDEN.values(), ids=FORBIDDEN.keys())
def test_no_file_names(pattern: re.Pattern[str]) -> None:
    matches = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, content in texts()
        if pattern.search(content)
        for number, line in enumerate(content.splitlines(), 1)
        if pattern.search(line)
    ]
    assert matches == []


def test_every_python_file_says_what_it_is() -> None:
    silent = []
    for name in files():
        if name.endswith(".py") and not name.startswith("exercises/"):  # an exercise is said in its exercise.md
            tree = ast.parse(text(name))
            silent += [name] if tree.body and ast.get_docstring(tree) is None else []
    assert silent == []


# The table of contents.


def listed(entry: Any) -> Iterator[str]:
    """Every page that `_toc.yml` names, at any depth."""
    if isinstance(entry, list):
        for item in entry:
            yield from listed(item)
    elif isinstance(entry, dict):
        yield from (entry[key] for key in ("root", "file") if key in entry)
        for value in entry.values():
            yield from listed(value)


def pages() -> list[str]:
    return list(listed(yaml.safe_load(text("_toc.yml"))))


def test_every_page_is_in_the_table_of_contents_once() -> None:
    written = [path.relative_to(ROOT).with_suffix("").as_posix() for path in (ROOT / "book").rglob("*.md")]
    assert sorted(pages()) == sorted(written)


def test_every_address_of_a_released_edition_leads_to_a_page() -> None:
    released = [line for line in text("tests/addresses.txt").splitlines() if not line.startswith("#")]
    known = {*pages(), *(name for page in pages() for name in former_names(ROOT, page))}
    assert [name for name in released if name not in known] == []


# Versions.


def locked() -> dict[str, set[str]]:
    """Versions of each package in requirements.txt; some differ between platforms."""
    versions: dict[str, set[str]] = {}
    for line in text("requirements.txt").splitlines():
        if line and not line.startswith("#"):
            requirement = Requirement(line)
            assert len(requirement.specifier) == 1, line
            versions.setdefault(canonicalize_name(requirement.name), set()).add(
                next(iter(requirement.specifier)).version
            )
    return versions


def declared() -> list[Requirement]:
    project = pyproject()["project"]
    extras = project["optional-dependencies"].values()
    return [Requirement(line) for line in [*project["dependencies"], *(line for extra in extras for line in extra)]]


@pytest.mark.parametrize("wanted", declared(), ids=lambda wanted: wanted.name)
def test_pyproject_admits_the_locked_version(wanted: Requirement) -> None:
    versions = locked().get(canonicalize_name(wanted.name), set())
    assert versions, f"{wanted.name} is not locked: make lock"
    assert [version for version in versions if not wanted.specifier.contains(version)] == []


def test_the_package_never_asks_for_torch() -> None:
    """In Colab, pip would replace the platform's own build."""
    names = {Requirement(line).name for line in pyproject()["project"]["dependencies"]}
    assert names.isdisjoint({"torch", "torchvision", "triton"})


def test_the_newest_tested_torch_is_the_locked_one() -> None:
    (version,) = locked()["torch"]
    assert version.split(".")[:2] == runtime.TESTED_TORCH[1].split(".")


def tried() -> list[str]:
    (_, low), (_, high) = runtime.TESTED_PYTHON
    return [f"3.{minor}" for minor in range(low, high + 1)]


def test_the_versions_of_python_are_said_alike_everywhere() -> None:
    project = pyproject()["project"]
    classifiers = [line.removeprefix("Programming Language :: Python :: ") for line in project["classifiers"]]
    assert (classifiers, project["requires-python"]) == (tried(), f">={tried()[0]}")
    for name in ("README.md", "torchbook_press/ship/guide.md"):
        assert f"Python {tried()[0]} to {tried()[-1]}" in text(name), name


@pytest.mark.parametrize("version", [*[(3, minor) for minor in range(10, 17)], (2, 7), (4, 0)])
def test_make_refuses_in_its_first_line_what_is_not_tried(version: tuple[int, int]) -> None:
    """The version of Python is a program in the Makefile, whose words are also run here."""
    (program,) = re.findall(r'@\$\(PYTHON\) -c "(import sys; .+)"$', text("Makefile"), re.MULTILINE)
    pretended = f"import sys; sys.version_info = ({version[0]}, {version[1]}, 0, 'final', 0)"
    outcome = subprocess.run([sys.executable, "-c", f"{pretended}; {program}"], capture_output=True, text=True)
    if f"{version[0]}.{version[1]}" in tried():
        assert (outcome.returncode, outcome.stderr) == (0, "")
    else:
        assert outcome.returncode == 1
        assert f"Python {tried()[0]} to {tried()[-1]} is needed" in outcome.stderr
        assert "make PYTHON=python3.12" in outcome.stderr


def test_the_lock_is_resolved_for_the_oldest_python_and_all_later_ones() -> None:
    assert f"--universal --python-version {tried()[0]} " in text("Makefile")


def test_the_version_is_said_alike_everywhere() -> None:
    cff = yaml.safe_load(text("CITATION.cff"))
    versions = {"pyproject.toml": pyproject()["project"]["version"], "CITATION.cff": cff["version"]}
    assert versions == dict.fromkeys(versions, torchbook.__version__)


def test_the_changelog_has_this_version() -> None:
    assert f"## [{torchbook.__version__}]" in text("CHANGELOG.md")


def test_the_citation_has_what_the_format_requires() -> None:
    cff = yaml.safe_load(text("CITATION.cff"))
    assert {"cff-version", "message", "title", "authors"} <= cff.keys()
    assert all(author.keys() & {"name", "family-names"} for author in cff["authors"])


# environment.yml.


@cache
def environment() -> tuple[tuple[Requirement, ...], tuple[Requirement, ...], tuple[str, ...]]:
    """What conda installs, what pip installs, and what pip installs that is not a plain requirement."""
    entries = yaml.safe_load(text("environment.yml"))["dependencies"]
    conda = [Requirement(re.sub(r"^(\w+)=(?=\d)", r"\1==", entry)) for entry in entries if isinstance(entry, str)]
    (pip,) = (entry["pip"] for entry in entries if isinstance(entry, dict))
    plain = [Requirement(entry) for entry in pip if not entry.startswith("-")]
    return tuple(conda), tuple(plain), tuple(entry for entry in pip if entry.startswith("-"))


CONDA_S_OWN = {"python", "pip", "jupyterlab", "cxx-compiler"}  # not in the lock: the book is printed without them
PYPI_NAMES = {"pytorch-cpu": "torch"}


def pypi_name(requirement: Requirement) -> str:
    return canonicalize_name(PYPI_NAMES.get(requirement.name, requirement.name))


def newest(name: str) -> str:
    """The version locked for the newest Python, which is the one of environment.yml."""
    return max(locked()[name], key=lambda version: [int(part) for part in version.split(".")])


def test_conda_goes_from_the_lowest_admitted_to_the_locked_version() -> None:
    lowest = {canonicalize_name(requirement.name): str(requirement.specifier) for requirement in declared()}
    conda = [requirement for requirement in environment()[0] if requirement.name not in CONDA_S_OWN]
    ranges = {requirement.name: {str(part) for part in requirement.specifier} for requirement in conda}
    assert ranges == {
        requirement.name: {lowest[pypi_name(requirement)], f"<={newest(pypi_name(requirement))}"}
        for requirement in conda
    }


def test_pip_beside_conda_installs_the_locked_versions() -> None:
    plain = environment()[1]
    assert {requirement.name: str(requirement.specifier) for requirement in plain} == {
        requirement.name: f"=={newest(requirement.name)}" for requirement in plain
    }


def test_environment_has_all_that_the_package_asks_for() -> None:
    conda, plain, _ = environment()
    there = {pypi_name(requirement) for requirement in [*conda, *plain]}
    wanted = {canonicalize_name(Requirement(line).name) for line in pyproject()["project"]["dependencies"]}
    assert wanted - there == set()


def test_pip_beside_conda_never_asks_for_torch() -> None:
    """It would put a second torch, with CUDA, over conda's."""
    brought = {
        Requirement(line).name
        for requirement in environment()[1]
        for line in importlib.metadata.requires(requirement.name) or []
        if "extra ==" not in line
    }
    assert brought.isdisjoint({"torch", "torchvision", "triton"})


def test_environment_has_all_that_chapters_import() -> None:
    conda, plain, _ = environment()
    there = {pypi_name(requirement) for requirement in [*conda, *plain]} | brought_by_torch()
    missing = [f"{shown}: {module}" for shown, module, names in chapter_imports() if there.isdisjoint(names)]
    assert missing == []


def test_a_launched_notebook_installs_what_its_chapter_imports() -> None:
    """Besides the package's own dependencies, and what every platform with torch has."""
    asked = {canonicalize_name(Requirement(line).name) for line in pyproject()["project"]["dependencies"]}
    there = asked | {"torch", "torchvision"} | brought_by_torch()
    installed = {chapter.shown: there | set(chapter.contract.packages) for chapter in chapters(ROOT)}
    missing = [
        f"{shown}: {module}; name it under `packages` in the contract"
        for shown, module, names in chapter_imports()
        if installed[shown].isdisjoint(names)
    ]
    assert missing == []


def test_a_launched_notebook_installs_what_the_test_framework_of_torch_needs() -> None:
    """Of p10: torch does not ask for it, and a file that a cell writes imports it."""
    users = [chapter for chapter in chapters(ROOT) if "torch.testing._internal.common_" in "\n".join(chapter.code)]
    assert users
    assert [chapter.shown for chapter in users if "expecttest" not in chapter.contract.packages] == []


def brought_by_torch() -> set[str]:
    needs = (Requirement(line) for line in importlib.metadata.requires("torch") or [])
    return {canonicalize_name(requirement.name) for requirement in needs if "extra" not in str(requirement.marker)}


def chapter_imports() -> Iterator[tuple[str, str, set[str]]]:
    """Chapter, module that it imports, and the distributions that have it; none of Python, ours or its own cells."""
    where = importlib.metadata.packages_distributions()
    for chapter in chapters(ROOT):
        code = "\n".join(chapter.code)
        own = {"torchbook", *re.findall(r"^%%writefile (?:-a )?(\w+)\.py$", code, flags=re.MULTILINE)}
        for module in sorted(imported(code) - sys.stdlib_module_names - own):
            yield chapter.shown, module, {canonicalize_name(name) for name in where.get(module, [])}


def imported(code: str) -> set[str]:
    """Top-level names of the modules that notebook code imports."""
    plain = "\n".join("pass" if re.match(r"\s*[%!]", line) else line for line in code.splitlines())
    modules = set()
    for node in ast.walk(ast.parse(plain)):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules.add(node.module.split(".")[0])
    return modules


# The branch that Binder and Colab open.


@cache
def branch_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("notebooks_branch", ROOT / ".github" / "notebooks_branch.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_binder_s_environment_takes_torchbook_from_git() -> None:
    made = branch_script().environment(text("environment.yml"), "https://host/owner/name", "abc")
    (pip,) = (entry["pip"] for entry in yaml.safe_load(made)["dependencies"] if isinstance(entry, dict))
    assert "torchbook @ git+https://host/owner/name@abc" in pip
    assert [entry for entry in pip if entry.startswith("-")] == []


def test_the_branch_is_laid_out(tmp_path: Path) -> None:
    for name in ("_config.yml", "environment.yml", "pyproject.toml"):
        (tmp_path / name).write_text(text(name))
    notebook = tmp_path / "_build" / "html" / "notebooks" / "book" / "one.ipynb"
    notebook.parent.mkdir(parents=True)
    notebook.write_text("{}")
    branch_script().lay_out(tmp_path / "branch", tmp_path)
    made = {path.relative_to(tmp_path / "branch").as_posix() for path in (tmp_path / "branch").rglob("*.*")}
    assert made == {".nojekyll", "README.md", "environment.yml", "notebooks/book/one.ipynb"}
    assert f"git+{config()['repository']['url']}@" in (tmp_path / "branch" / "environment.yml").read_text()


@pytest.fixture
def history(tmp_path: Path) -> Callable[..., str]:
    """A repository; commits a change of a file, and says what Binder would then install."""
    here = {"cwd": tmp_path, "check": True, "capture_output": True, "text": True}
    names = [part for who in ("author", "committer") for part in ("-c", f"{who}.name=A", "-c", f"{who}.email=a@b")]
    subprocess.run(["git", "init", "--quiet"], **here)

    def commit(name: str, content: str = "changed\n") -> str:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
        subprocess.run(["git", "add", "--all"], **here)
        subprocess.run(["git", *names, "commit", "--quiet", "--no-gpg-sign", "--message", name], **here)
        revision = branch_script().package_revision(tmp_path, "main")
        return str(subprocess.run(["git", "log", "-1", "--format=%s", revision], **here).stdout.strip())

    assert commit("pyproject.toml", text("pyproject.toml")) == "pyproject.toml"
    return commit


@pytest.mark.parametrize("name", [
    "torchbook/llm/model.py", "exercises/p01/x3-manual-indexing/exercise.md", "hatch_build.py", "pyproject.toml"
])  # fmt: skip
def test_binder_installs_the_last_change_of_what_the_wheel_is_made_of(history: Callable[..., str], name: str) -> None:
    content = text(name) + "\n" if name == "pyproject.toml" else "changed\n"
    assert history(name, content) == name


@pytest.mark.parametrize("name", ["torchbook_press/run.py", "book/intro.md", "tests/test_style.py"])
def test_binder_makes_no_new_image_for_a_change_of_something_else(history: Callable[..., str], name: str) -> None:
    assert history(name) == "pyproject.toml"


def test_what_the_wheel_is_made_of_is_there() -> None:
    assert [name for name in branch_script().sources(ROOT) if not (ROOT / name).exists()] == []


# The repository's address.


def test_only_config_and_prose_name_the_repository() -> None:
    """Code takes the address from `_config.yml`, workflows from their context: a fork changes one line."""
    owner_and_name = "/".join(config()["repository"]["url"].split("/")[-2:])
    naming = {name for name, content in texts() if owner_and_name in content}
    assert {name for name in naming if not name.endswith((".md", ".cff"))} == {"_config.yml"}


def test_prose_names_the_repository_of_config() -> None:
    host, owner, name = config()["repository"]["url"].rsplit("/", 2)
    pattern = re.compile(rf"{re.escape(host)}/([\w-]+/{re.escape(name)})\b")
    for where in (*PROSE, "CITATION.cff"):
        assert set(pattern.findall(text(where))) <= {f"{owner}/{name}"}, where


# What people read first.

PROSE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/maintaining.md")
_LINK = re.compile(r"\]\(([^)\s]+)\)|\b(?:src|href)=\"([^\"]+)\"")
_PATH = re.compile(r"`((?:\.?[\w-]+/)+[\w.-]*|[\w-]+\.(?:md|yml|txt|toml|cff))`")
MADE = ("_build", "executed", "recordings", ".venv", ".cache")  # by the commands that the text is about


def test_readme_is_read_in_a_minute() -> None:
    assert len(text("README.md").splitlines()) <= 120


@pytest.mark.parametrize("name", PROSE)
def test_local_links_lead_somewhere(name: str) -> None:
    targets = {first or second for first, second in _LINK.findall(text(name))}
    local = {target.partition("#")[0] for target in targets if "://" not in target and not target.startswith("#")}
    assert [target for target in sorted(local) if not (ROOT / name).parent.joinpath(target).exists()] == []


@pytest.mark.parametrize("name", PROSE)
def test_paths_named_in_prose_exist(name: str) -> None:
    paths = {path for path in _PATH.findall(text(name)) if path.split("/")[0] not in MADE} - {
        "exercise.md",
        "index.md",
        "wrong.md",
    }
    assert [path for path in sorted(paths) if not (ROOT / path).exists()] == []


def test_pictures_of_the_readme_are_small() -> None:
    pictures = [target[0] for target in re.findall(r"!\[[^\]]*\]\(([^)\s]+)()\)", text("README.md"))]
    large = [name for name in pictures if (ROOT / name).is_file() and (ROOT / name).stat().st_size > MB // 4]
    assert pictures
    assert large == []


def test_only_the_shared_fixture_starts_a_browser() -> None:
    """Playwright refuses a second one in a process, whichever test comes first there."""
    starting = {name for name in files() if name.startswith("tests/") and re.search(r"\bstarted\(\)", text(name))}
    commands = {"tests/server/replicate.py", "tests/viz/gallery.py"}  # of a built site; no tests
    assert starting - {"tests/test_repository.py"} - commands == {"tests/browser.py", "tests/conftest.py"}
