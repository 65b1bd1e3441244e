"""The wheel: what it holds of the exercises, and that it works where there is no clone.

It holds the whole of `torchbook/`, and the learner's edition of every exercise for everyone: statement,
hints, solution and public checks. It holds no hidden check, no wrong answer, no variant and no instructor's exercise.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from functools import cache
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
        ("p09/x1-a-sum", files),
        ("p09/x2-a-quiz", {"exercise.md": QUIZ}),
        ("p09/x7-secret", secret),
    ):
        for name, text in content.items():
            (root / "exercises" / folder / name).parent.mkdir(parents=True, exist_ok=True)
            (root / "exercises" / folder / name).write_text(text)
    return root


@pytest.fixture(scope="module")
def wheel_file(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    build = subprocess.run(command, cwd=tree, capture_output=True, text=True)
    assert build.returncode == 0, build.stdout + build.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def wheel(wheel_file: Path) -> dict[str, bytes]:
    """The files of the wheel by their names in it."""
    with zipfile.ZipFile(wheel_file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def exercises(tree: Path) -> dict[str, Exercise]:
    root = tree / "exercises"
    return {
        page.parent.relative_to(root).as_posix(): load(page.parent) for page in sorted(root.glob("*/*/exercise.md"))
    }


@pytest.fixture(scope="module")
def edition(wheel: dict[str, bytes]) -> dict[str, str]:
    """The edition's files by folder and name."""
    return {name.removeprefix(EDITION): text.decode() for name, text in wheel.items() if name.startswith(EDITION)}


def test_the_edition_has_these_files_and_no_others(edition: dict[str, str], exercises: dict[str, Exercise]) -> None:
    files = {"code": ["LEARNER", "checks.py", "exercise.md", "solution.py"], "quiz": ["LEARNER", "exercise.md"]}
    expected = {
        f"{folder}/{name}"
        for folder, exercise in exercises.items()
        if exercise.contract.audience == "everyone"
        for name in files[exercise.contract.kind]
    }
    assert set(edition) == expected


def test_statement_solution_and_public_checks_are_the_source_s(
    edition: dict[str, str], exercises: dict[str, Exercise]
) -> None:
    exercise = exercises["p01/x3-manual-indexing"]
    assert exercise.statement in edition["p01/x3-manual-indexing/exercise.md"]
    assert edition["p01/x3-manual-indexing/solution.py"] == exercise.solution
    assert edition["p01/x3-manual-indexing/checks.py"] == exercise.public_checks


def test_hints_keep_their_public_checks(edition: dict[str, str]) -> None:
    page = edition["p01/x3-manual-indexing/exercise.md"].splitlines()
    assert "## Hint: The numbers are right for contiguous tensors, wrong for transposed ones {test_transposed}" in page
    assert "## Hint: A negative index gives a place before the beginning {test_negative}" in page


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
    if exercise.contract.kind == "code":  # a quiz's wrong answers are its options, which the page shows
        lines |= {line.strip() for wrong in exercise.wrong for line in wrong.source.splitlines()}
        lines |= {wrong.misconception for wrong in exercise.wrong}
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


# Lines that tell nothing of an answer, since many programs have them.
IDIOMS = {"optimizer = torch.optim.Adam(model.parameters(), lr=lr)", "for name, p in model.named_parameters():"}


def test_nowhere_in_the_wheel_is_a_hidden_check_or_a_wrong_answer(
    wheel: dict[str, bytes], exercises: dict[str, Exercise]
) -> None:
    names = {node.name for exercise in exercises.values() for node in hidden(exercise)}
    public = "".join(exercise.public_checks + exercise.solution for exercise in exercises.values())
    lines = {line for exercise in exercises.values() for line in secret_lines(exercise)} - IDIOMS
    lines = {line for line in lines if len(line) >= OWN_WORDS and line not in public}
    assert len(names | lines) > 20
    assert [(name, secret) for name, content in wheel.items() for secret in held(content, names, lines)] == []


def held(content: bytes, names: set[str], lines: set[str]) -> set[str]:
    """Which of the names and of the lines, of `OWN_WORDS` or more, are in a file; one pass over it for the lines."""
    text = content.decode(errors="replace")
    beginnings = {line[:OWN_WORDS] for line in lines}
    present = {window for n in range(len(text)) if (window := text[n : n + OWN_WORDS]) in beginnings}
    candidates = {line for line in lines if line[:OWN_WORDS] in present}
    return {secret for secret in names | candidates if secret in text}


def test_a_hidden_line_would_be_found() -> None:
    line = "assert kangaroo(7) == 49, 'seven times seven is fifty but one'"
    assert held(f"  {line}  # é".encode(), {"test_hidden_a", "test_hidden_b"}, {line, line + "."}) == {line}
    assert held(b"def test_hidden_a():", {"test_hidden_a", "test_hidden_b"}, {line}) == {"test_hidden_a"}


def test_nowhere_in_the_wheel_is_an_instructor_s_exercise_or_a_variant(wheel: dict[str, bytes], tree: Path) -> None:
    variants = [path.name.encode() for path in tree.glob("exercises/*/*/variants/*")]
    assert b"which-indices" in variants
    for secret in (b"p09-x7", b"A sum in a variant", b"which-indices", b"def indices_at"):
        assert [name for name, content in wheel.items() if secret in content or secret in name.encode()] == []


def _is_source(path: Path) -> bool:
    return path.is_file() and path.parent.name != "__pycache__"


def test_the_wheel_holds_package_and_edition_and_nothing_else(wheel: dict[str, bytes], tree: Path) -> None:
    package = {path.relative_to(tree).as_posix() for path in (tree / "torchbook").rglob("*") if _is_source(path)}
    names = {name for name in wheel if not name.startswith(EDITION) and ".dist-info/" not in name}
    assert names == package


def test_nothing_is_written_into_the_sources(wheel: dict[str, bytes], tree: Path) -> None:
    assert not (tree / EDITION).exists()


# Where there is no clone: an environment in which the wheel was installed, with what it asks for, and nothing else.


@dataclass(frozen=True)
class Installed:
    """An environment with the wheel, and a folder to work in."""

    python: Path
    home: Path

    @property
    def edition(self) -> Path:
        (packages,) = self.python.parents[1].glob("lib/python*/site-packages")
        return packages / EDITION

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment, without a network where the system can cut it."""
        variables = {"PATH": os.defpath, "HOME": str(self.home), "COLUMNS": "200"}
        program = str(self.python.with_name(command[0]))
        return subprocess.run(
            [*without_network(), program, *command[1:]],
            cwd=self.home, env=variables, capture_output=True, text=True, timeout=120,
        )  # fmt: skip

    def torchbook(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("torchbook", *arguments)

    def answer(self, source: str) -> str:
        (self.home / "answer.py").write_text(source)
        return "answer.py"


@cache
def without_network() -> tuple[str, ...]:
    """What a command begins with, so that it has no network; nothing where the system knows no way."""
    prefix = ("unshare", "--map-root-user", "--net")
    try:
        works = subprocess.run([*prefix, "true"], capture_output=True).returncode == 0
    except OSError:
        works = False
    return prefix if works else ()


def install(folder: Path, wheel_file: Path, repo: Path) -> Installed:
    """A new environment with the wheel, in the locked versions: from uv's cache, and what that lacks from the index."""
    uv = [sys.executable, "-m", "uv"]
    python = folder / "env" / "bin" / "python"
    options = ["--quiet", "--python", str(python), "--constraint", str(repo / "requirements.txt"), str(wheel_file)]
    subprocess.run([*uv, "venv", "--quiet", "--python", sys.executable, str(folder / "env")], check=True)
    if subprocess.run([*uv, "pip", "install", "--offline", *options], capture_output=True).returncode:
        subprocess.run([*uv, "pip", "install", *options], check=True)
    (folder / "home").mkdir()
    return Installed(python, folder / "home")


@pytest.fixture(scope="module")
def installed(wheel_file: Path, repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """With the wheel alone, as `pip install torchbook` leaves it."""
    return install(tmp_path_factory.mktemp("installed"), wheel_file, repo)


@pytest.fixture(scope="module")
def beside_torch(wheel_file: Path, repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """With torch as well, and all else that is here; what the environment has itself comes first."""
    environment = install(tmp_path_factory.mktemp("beside"), wheel_file, repo)
    (packages,) = environment.python.parents[1].glob("lib/python*/site-packages")
    (packages / "beside.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment


def test_the_environment_has_no_network(installed: Installed) -> None:
    if not without_network():
        pytest.skip(reason="this system cuts no network from a process")
    interfaces = installed.run("python", "-c", "import socket; print(*dict(socket.if_nameindex()).values())")
    assert interfaces.stdout.split() == ["lo"]


def test_pip_installs_neither_torch_nor_the_tools_of_a_clone(installed: Installed) -> None:
    program = """
import importlib.util
print([name for name in {names} if importlib.util.find_spec(name)])
"""
    tools = ["torchbook_press", "torchbook_course", "torchbook_proofs", "tests"]
    names = ["torchbook", "torch", "torchvision", "papermill", "sphinx", "nbgrader", "pytest", *tools]
    assert installed.run("python", "-c", program.format(names=names)).stdout == "['torchbook']\n"


def test_the_exercises_are_listed(installed: Installed, exercises: dict[str, Exercise]) -> None:
    listing = installed.torchbook("exercises")
    assert listing.returncode == 0, listing.stderr
    ids = [exercise.id for exercise in exercises.values() if exercise.contract.audience == "everyone"]
    assert [exercise_id for exercise_id in ids if f" {exercise_id} " not in listing.stdout] == []


def test_a_hint_is_shown(installed: Installed, exercises: dict[str, Exercise]) -> None:
    hint = installed.torchbook("hint", "p01-x3", "1")
    assert hint.returncode == 0, hint.stderr
    assert exercises["p01/x3-manual-indexing"].hints[0].symptom in hint.stdout


def test_a_solution_is_shown(installed: Installed) -> None:
    solution = installed.torchbook("solution", "p09-x1")
    assert solution.returncode == 0, solution.stderr
    assert "return a + b" in solution.stdout


@pytest.mark.parametrize(("operator", "status", "words"), [
    ("+", 0, "p09-x1 A sum: solved, 2 checks passed"),
    ("-", 1, "Sum: a sum is the number of both together"),
])  # fmt: skip
def test_a_check_that_needs_no_torch_runs_without_it(
    installed: Installed, operator: str, status: int, words: str
) -> None:
    check = installed.torchbook("check", "p09-x1", installed.answer(f"def add(a, b):\n    return a {operator} b\n"))
    assert (check.returncode, check.stderr) == (status, "")
    assert words in check.stdout


def test_a_check_that_needs_torch_says_in_a_line_what_to_do(installed: Installed) -> None:
    check = installed.torchbook("check", "p01-x3", installed.answer("import torch\n"))
    assert (check.returncode, check.stdout) == (2, "")
    assert check.stderr == "error PyTorch is not installed here: pip install torch\n"


def test_in_python_the_same_is_said(installed: Installed) -> None:
    check = installed.run("python", "-c", "from torchbook.practice import check\nassert not check('p01-x3')")
    assert check.returncode == 0, check.stderr
    assert "Nothing was checked: PyTorch is not installed here: pip install torch" in check.stdout


@pytest.mark.parametrize("command", ["book", "course"])
def test_a_command_of_a_clone_is_said_to_be_one(installed: Installed, command: str) -> None:
    refusal = installed.torchbook(command)
    assert refusal.returncode == 2
    words = " ".join(re.sub("[│╭╰╮╯─]", " ", refusal.stderr).split())
    assert f"`torchbook {command}` is not among the commands of the installed package: " in words
    assert {"check", "exercises", "hint", "solution"} <= set(re.findall(r"\w+", words))
    assert "come with a clone of its repository: `make setup` there" in words


def test_the_reference_is_solved_beside_torch(beside_torch: Installed, exercises: dict[str, Exercise]) -> None:
    reference = exercises["p01/x3-manual-indexing"].reference
    check = beside_torch.torchbook("check", "p01-x3", beside_torch.answer(reference))
    assert (check.returncode, check.stderr) == (0, "")
    assert "p01-x3 Manual indexing: solved, 9 checks passed" in check.stdout


def test_a_wrong_answer_is_refused_beside_torch(beside_torch: Installed, exercises: dict[str, Exercise]) -> None:
    wrong = exercises["p01/x3-manual-indexing"].wrong[0]
    check = beside_torch.torchbook("check", "p01-x3", beside_torch.answer(wrong.source))
    assert (check.returncode, check.stderr) == (1, "")
    assert "  refused " in check.stdout


def test_a_check_runs_in_python(beside_torch: Installed) -> None:
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
    check = beside_torch.run("python", "-c", program)
    assert check.returncode == 0, check.stderr
    assert check.stdout.startswith(str(beside_torch.edition.parents[2]))
    assert 'Hint `hint("p01-x3"' in check.stdout or '6 hints: `hint("p01-x3")`' in check.stdout


def test_every_exercise_of_the_edition_can_be_read(installed: Installed, exercises: dict[str, Exercise]) -> None:
    loaded = [load(page.parent) for page in installed.edition.glob("*/*/exercise.md")]
    assert {exercise.edition for exercise in loaded} == {"learner"}
    assert len(loaded) == sum(exercise.contract.audience == "everyone" for exercise in exercises.values())


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
    build_data: dict[str, dict[str, str]] = {"force_include": {}}
    hook.EditionHook(str(repo), {}, None, None, "", "wheel").initialize("editable", build_data)
    assert build_data == {"force_include": {}}
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
    completed = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    assert (tmp_path / "edition" / "p01/x3-manual-indexing" / "checks.py").is_file()
