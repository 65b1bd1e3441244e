import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch

# What can be left out of a build, and the variables that leave it out.
PARTS = {
    "tests": ["BUILD_TEST"],
    "distributed": ["USE_DISTRIBUTED"],
    "mkldnn": ["USE_MKLDNN"],
    "quantised": ["USE_FBGEMM"],
    "mobile": ["USE_NNPACK", "USE_XNNPACK"],
    "attention": ["USE_FLASH_ATTENTION", "USE_MEM_EFF_ATTENTION"],  # kernels for CUDA
}
ON, OFF = {"ON", "1", "TRUE", "YES", "Y"}, {"OFF", "0", "FALSE", "NO", "N"}


def plan(machine: dict[str, Any], wants: Collection[str]) -> dict[str, str]:
    """The environment variables for a build on this machine that has what is wanted and no more."""
    ### BEGIN SOLUTION
    cuda = machine["nvcc"]
    jobs = (machine["ram_gb"] - 4) // (5 if cuda else 2)
    env = {"USE_CUDA": "1" if cuda else "0", "MAX_JOBS": str(int(max(1, min(machine["cores"], jobs))))}
    if cuda and machine["archs"]:
        archs = sorted(set(machine["archs"]), key=lambda arch: [int(part) for part in arch.split(".")])
        env["TORCH_CUDA_ARCH_LIST"] = ";".join(archs)
    for part, names in PARTS.items():
        if part not in wants and (cuda or part != "attention"):
            env |= dict.fromkeys(names, "0")
    if "debug" in wants:
        env["DEBUG"] = "1"
    elif "symbols" in wants:
        env["REL_WITH_DEB_INFO"] = "1"
    if machine["ccache"]:
        languages = ["C", "CXX", "CUDA"] if cuda else ["C", "CXX"]
        env |= {f"CMAKE_{language}_COMPILER_LAUNCHER": "ccache" for language in languages}
    return env
    ### END SOLUTION


def stale(cache: str, env: dict[str, str]) -> set[str]:
    """The variables of `env` that this text of a CMakeCache.txt holds with another meaning."""
    ### BEGIN SOLUTION
    rows = [line.strip() for line in cache.splitlines()]
    held = [re.fullmatch(r"(\w+):\w+=(.*)", row) for row in rows if not row.startswith(("#", "//"))]
    values = {row[1]: row[2] for row in held if row}
    return {name for name in env if name in values and _meaning(values[name]) != _meaning(env[name])}
    ### END SOLUTION


def read_build(text: str) -> dict[str, Any]:
    """What `torch.__config__.show()` says: "compiler", "settings", and "archs", the GPUs that it has code for."""
    ### BEGIN SOLUTION
    lines = [line.strip().removeprefix("- ") for line in text.splitlines()]
    settings = {}
    for line in lines:
        if line.startswith("Build settings: "):
            for pair in re.split(r",(?: |$)", line.removeprefix("Build settings: ")):
                name, equals, value = pair.partition("=")
                if equals:
                    settings[name.strip()] = value.strip()
    codes = re.findall(r"code=sm_(\d+)(\d)[a-z]?\b", settings.get("CUDA_FLAGS", ""))
    return {"compiler": lines[1], "settings": settings, "archs": [f"{major}.{minor}" for major, minor in codes]}
    ### END SOLUTION


def origin(version: str) -> str:
    """ "source", "nightly" or "release", from `torch.__version__`."""
    ### BEGIN SOLUTION
    public, _, local = version.partition("+")
    if local.startswith("git"):
        return "source"
    return "nightly" if ".dev" in public else "release"
    ### END SOLUTION


def doubts(tree: str, head: str, file: str, git_version: str | None) -> set[str]:
    """What speaks against a torch with this `__file__` and `git_version` being that of the tree at its head."""
    ### BEGIN SOLUTION
    found = set()
    if not Path(file).is_relative_to(Path(tree) / "torch"):
        found.add("file")
    one, other = (git_version or "").lower(), head.lower()
    if min(len(one), len(other)) < 7 or not (one.startswith(other) or other.startswith(one)):
        found.add("commit")
    return found
    ### END SOLUTION


def _meaning(value: str) -> str | bool:
    ### BEGIN SOLUTION
    upper = value.upper()
    return True if upper in ON else False if upper in OFF else value
    ### END SOLUTION


def report() -> str:
    """What the torch that is imported says of itself."""
    build, known = read_build(torch.__config__.show()), torch.version.git_version
    kind = build["settings"].get("BUILD_TYPE", "?")
    return (
        f"{origin(torch.__version__)} build of {str(known)[:10]} ({kind}), {build['compiler']}, from {torch.__file__}"
    )
