"""The wheel: what it holds of the exercises, and that it works where there is no clone.

It holds the whole package, which is the tools, and the learner's edition of every exercise for everyone: statement,
hints, solution and public checks. It holds no hidden check, no wrong answer, no variant and no instructor's exercise.
"""

from __future__ import annotations

import ast
import importlib.util
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

from tests.practice.conftest import FILES, PAGE, QUIZ
from torchbook.practice import shelf
from torchbook.practice.exercise import Exercise, load

EDITION = "torchbook/practice/edition/"
OWN_WORDS = 40  # characters of a line that no other file has by chance


@pytest.fixture(scope="module")
def tree(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of a wheel, with an instructor's exercise and a quiz more."""
    root = tmp_path_factory.mktemp("tree")
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(repo / name, root)
    for name in ("torchbook", "exercises"):
        shutil.copytree(repo / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    files = FILES | {"variants/more/exercise.md": PAGE.replace("A sum", "A sum in a variant")}
    secret = {name: text.replace("p09-x1", "p09-x7").replace("stars: 1", "audience: instructor\nstars: 1")
              for name, text in files.items()}  # fmt: skip
    for folder, content in (
        ("p09-x1-a-sum", files),
        ("p09-x2-a-quiz", {"exercise.md": QUIZ}),
        ("p09-x7-secret", secret),
    ):
        for name, text in content.items():
            (root / "exercises" / folder / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "exercises" / folder / name).write_text(text)
    return root


@pytest.fixture(scope="module")
def wheel(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of a wheel by their names in it."""
    made = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(made)]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = made.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def exercises(tree: Path) -> dict[str, Exercise]:
    return {page.parent.name: load(page.parent) for page in sorted((tree / "exercises").glob("*/exercise.md"))}


@pytest.fixture(scope="module")
def edition(wheel: dict[str, bytes]) -> dict[str, str]:
    """The edition's files by folder and name."""
    return {name.removeprefix(EDITION): text.decode() for name, text in wheel.items() if name.startswith(EDITION)}


def test_the_edition_has_these_files_and_no_others(edition: dict[str, str], exercises: dict[str, Exercise]) -> None:
    files = {"code": ["LEARNER", "checks.py", "exercise.md", "solution.py"], "quiz": ["LEARNER", "exercise.md"]}
    expected = {
        f"{folder}/{name}"
        for folder, exercise in exercises.items()
        if exercise.audience == "everyone"
        for name in files[exercise.kind]
    }
    assert set(edition) == expected


def test_statement_solution_and_public_checks_are_the_source_s(
    edition: dict[str, str], exercises: dict[str, Exercise]
) -> None:
    found = exercises["p01-x3-manual-indexing"]
    assert found.statement in edition["p01-x3-manual-indexing/exercise.md"]
    assert edition["p01-x3-manual-indexing/solution.py"] == found.solution
    assert edition["p01-x3-manual-indexing/checks.py"] == found.public_checks


def test_hints_keep_their_public_checks(edition: dict[str, str]) -> None:
    page = edition["p01-x3-manual-indexing/exercise.md"].splitlines()
    assert "## Hint: The numbers are right for contiguous tensors, wrong for transposed ones {test_transposed}" in page
    assert "## Hint: A negative index gives a place before the beginning {test_negative, test_out_of_range}" in page


def hidden(exercise: Exercise) -> list[ast.FunctionDef]:
    body = ast.parse(exercise.checks).body
    return [node for node in body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_hidden_")]


def secret_lines(exercise: Exercise) -> set[str]:
    """Lines of hidden checks and of wrong answers that are not public elsewhere."""
    lines = {
        line.strip()
        for node in hidden(exercise)
        for line in exercise.checks.splitlines()[node.lineno - 1 : node.end_lineno]
    }
    if exercise.kind == "code":  # a quiz's wrong answers are its options, which the page shows
        lines |= {line.strip() for wrong in exercise.wrong for line in wrong.source.splitlines()}
    public = exercise.public_checks + exercise.solution + exercise.statement
    return {line for line in lines if len(line) > 3 and line not in public}


def test_no_line_of_a_hidden_check_or_wrong_answer_is_in_the_edition(
    edition: dict[str, str], exercises: dict[str, Exercise]
) -> None:
    leaks = [
        (name, line)
        for folder, exercise in exercises.items()
        for line in secret_lines(exercise)
        for name, text in edition.items()
        if name.startswith(f"{folder}/") and line in text.splitlines()
    ]
    assert leaks == []


def test_nowhere_in_the_wheel_is_a_hidden_check_or_a_wrong_answer(
    wheel: dict[str, bytes], exercises: dict[str, Exercise]
) -> None:
    names = {node.name for exercise in exercises.values() for node in hidden(exercise)}
    shown = "".join(exercise.public_checks + exercise.solution for exercise in exercises.values())
    lines = {line for exercise in exercises.values() for line in secret_lines(exercise)}
    lines = {line for line in lines if len(line) >= OWN_WORDS and line not in shown}
    assert len(names | lines) > 20
    assert [(name, secret) for name, content in wheel.items() for secret in held(content, names, lines)] == []


def held(content: bytes, names: set[str], lines: set[str]) -> set[str]:
    """Which of the names and of the lines, of `OWN_WORDS` or more, are in a file; one pass over it for the lines."""
    text = content.decode(errors="replace")
    beginnings = {line[:OWN_WORDS] for line in lines}
    known = {part for n in range(len(text)) if (part := text[n : n + OWN_WORDS]) in beginnings}
    near = {line for line in lines if line[:OWN_WORDS] in known}
    return {secret for secret in names | near if secret in text}


def test_a_hidden_line_would_be_found() -> None:
    line = "assert kangaroo(7) == 49, 'seven times seven is fifty but one'"
    assert held(f"  {line}  # é".encode(), {"test_hidden_a", "test_hidden_b"}, {line, line + "."}) == {line}
    assert held(b"def test_hidden_a():", {"test_hidden_a", "test_hidden_b"}, {line}) == {"test_hidden_a"}


def test_nowhere_in_the_wheel_is_an_instructor_s_exercise_or_a_variant(wheel: dict[str, bytes], tree: Path) -> None:
    variants = [path.name.encode() for path in tree.glob("exercises/*/variants/*")]
    assert b"which-indices" in variants
    for secret in (b"p09-x7", b"A sum in a variant", b"which-indices", b"def indices_at"):
        assert [name for name, content in wheel.items() if secret in content or secret in name.encode()] == []


def test_the_wheel_holds_package_and_edition_and_nothing_else(wheel: dict[str, bytes]) -> None:
    assert {name.split("/")[0].split("-")[0] for name in wheel} == {"torchbook"}
    assert "torchbook/course/__init__.py" in wheel
    assert "torchbook/press/__init__.py" in wheel


def test_nothing_is_written_into_the_sources(wheel: dict[str, bytes], tree: Path) -> None:
    assert not (tree / EDITION).exists()


# Where there is no clone.


@pytest.fixture(scope="module")
def installed(wheel: dict[str, bytes], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files, as an installer lays them out."""
    target = tmp_path_factory.mktemp("installed")
    for name, content in wheel.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_bytes(content)
    return target


def run(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python with the installed package before all others, in a folder of its own."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(installed),
        "TORCHBOOK_PROGRESS": str(folder / "p.json"),
        "HOME": str(folder),
    }
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def test_a_check_runs_without_a_clone(installed: Path, tmp_path: Path) -> None:
    program = """
import torchbook
from torchbook.practice import check, hint, reference, solution
print(torchbook.__file__)
add = reference("p09-x1").add
assert check("p09-x1")
p09_x2 = {"planet": "b", "word": "to"}
assert check("p09-x2")
place = measured_place = lambda *a: 0
assert not check("p01-x3")
"""
    done = run(installed, tmp_path, "-c", program)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(str(installed))
    assert 'Hint `hint("p01-x3"' in done.stdout or '5 hints: `hint("p01-x3")`' in done.stdout


def test_the_command_runs_without_a_clone(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "my.py").write_text("def add(a, b):\n    return a - b\n")
    done = run(installed, tmp_path, "-m", "torchbook", "check", "p09-x1", "my.py")
    assert done.returncode == 1, done.stderr
    assert "Sum: a sum is the number of both together" in done.stdout
    assert "p01-x3" in run(installed, tmp_path, "-m", "torchbook", "exercises").stdout


def test_every_exercise_of_the_edition_can_be_read(installed: Path, exercises: dict[str, Exercise]) -> None:
    read = [load(page.parent) for page in (installed / EDITION).glob("*/exercise.md")]
    assert {found.edition for found in read} == {"learner"}
    assert len(read) == sum(exercise.audience == "everyone" for exercise in exercises.values())


# The hook.


@pytest.fixture
def hook(repo: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", repo / "hatch_build.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("line", "kept"), [
    ("## Hint: A {test_a, test_hidden_b}\n", "## Hint: A {test_a}\n"),
    ("## Hint: A {test_hidden_b, test_a}\n", "## Hint: A {test_a}\n"),
    ("## Hint: A {test_a, test_hidden_b, test_c}\n", "## Hint: A {test_a, test_c}\n"),
    ("## Hint: A {test_hidden_b}\n", "## Hint: A\n"),
    ("## Hint: A {test_hidden_b, test_hidden_c}\n", "## Hint: A\n"),
    ("## Hint: A\n", "## Hint: A\n"),
])  # fmt: skip
def test_hidden_checks_are_taken_out_of_a_hint_s_title(hook: ModuleType, line: str, kept: str) -> None:
    assert hook._without_hidden(line) == kept


def test_an_incomplete_tree_is_no_wheel(hook: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no exercises; build from a complete clone"):
        hook.write_edition(tmp_path, tmp_path / "edition")


def test_an_editable_install_uses_the_clone_s_exercises(hook: ModuleType, repo: Path) -> None:
    built: dict[str, dict[str, str]] = {"force_include": {}}
    hook.EditionHook(str(repo), {}, None, None, "", "wheel").initialize("editable", built)
    assert built == {"force_include": {}}
    assert shelf.roots() == (repo / "exercises",)


def test_the_build_needs_no_more_than_it_asks_for(tree: Path, tmp_path: Path) -> None:
    """Only hatchling, PyYAML and pydantic are there in a build: neither IPython nor what else the package imports."""
    program = f"""
import sys
from pathlib import Path
sys.path.insert(0, {str(tree)!r})
import hatch_build
hatch_build.write_edition(Path({str(tree)!r}), Path("edition"))
foreign = {{name.split(".")[0] for name in sys.modules}} & {{"IPython", "torch", "platformdirs", "filelock", "rich"}}
assert not foreign, foreign
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "edition" / "p01-x3-manual-indexing" / "checks.py").is_file()
