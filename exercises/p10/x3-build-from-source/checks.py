import random

import torch

LAPTOP = {"cores": 8, "ram_gb": 16, "nvcc": False, "archs": [], "ccache": False}
SERVER = {"cores": 64, "ram_gb": 128, "nvcc": True, "archs": ["9.0", "10.0", "8.0", "9.0"], "ccache": True}

CACHE = """# This is the CMakeCache file.
//Build C++ test binaries
BUILD_TEST:BOOL=ON
// USE_MKLDNN:BOOL=OFF
USE_CUDA:BOOL=OFF
USE_FBGEMM:BOOL=0
USE_DISTRIBUTED:BOOL=ON
TORCH_CUDA_ARCH_LIST:STRING=8.0;9.0
CMAKE_CXX_FLAGS:STRING= -DNDEBUG -Werror=format
"""

WHEEL = """PyTorch built with:
  - GCC 13.3
  - C++ Version: 202002
  - OpenMP 201511 (a.k.a. OpenMP 4.5)
  - CPU capability usage: AVX512
  - Build settings: BLAS_INFO=mkl, BUILD_TYPE=Release, COMMIT_SHA=d0f2af8b66b20da4baa50644c0cd3f887a2eae2e, \
CUDA_FLAGS= -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=sm_90 -gencode \
arch=compute_120,code=sm_120 -Xcudafe --diag_suppress=cc_clobber_ignored,--diag_suppress=bad_friend_decl, \
CUDA_VERSION=13.2, CXX_FLAGS= -DNDEBUG -DUSE_FBGEMM -O2 -fPIC -Werror=return-type -Wno-psabi, LAPACK_INFO=mkl, \
TORCH_VERSION=2.15.0, USE_CUDA=1, USE_MPI=OFF, USE_XPU=OFF, \n"""

DEBUG = """PyTorch built with:
  - GCC 12.2
  - C++ Version: 202002
  - CPU capability usage: AVX2
  - Build settings: BLAS_INFO=open, BUILD_TYPE=Debug, CXX_FLAGS= -g -O0 -Wall, TORCH_VERSION=2.16.0, USE_CUDA=0, \n"""


def test_plan_laptop(plan):
    env = plan(LAPTOP, {"debug"})
    assert all(isinstance(value, str) for value in env.values()), (
        f"an environment holds strings: os.environ refuses anything else, and a build would read False as a word: {env}"
    )
    assert env.get("USE_CUDA") == "0", "without nvcc, say USE_CUDA=0 instead of leaving it to what cmake finds"
    assert "TORCH_CUDA_ARCH_LIST" not in env, "without CUDA, leave out the list of GPUs"
    assert env.get("DEBUG") == "1" and "REL_WITH_DEB_INFO" not in env


def test_plan_jobs(plan):
    expected = {(8, 16): "6", (4, 64): "4", (16, 5): "1", (2, 2): "1", (64, 31.5): "13"}
    for (cores, ram), jobs in expected.items():
        found = plan({**LAPTOP, "cores": cores, "ram_gb": ram}, ()).get("MAX_JOBS")
        assert found == jobs, (
            f"{cores} cores and {ram} GB: {jobs} job(s) of 2 GB, with 4 GB kept free, and at least one; found {found}"
        )
    found = plan(SERVER, ()).get("MAX_JOBS")
    assert found == "24", f"with CUDA, a job takes 5 GB, so 128 GB are enough for 24 of the 64 cores; found {found}"


def test_plan_archs(plan):
    found = plan(SERVER, ()).get("TORCH_CUDA_ARCH_LIST")
    assert found == "8.0;9.0;10.0", f"each once, in numerical order, separated by semicolons; found {found}"
    bare = plan({**SERVER, "archs": []}, ())
    assert "TORCH_CUDA_ARCH_LIST" not in bare, "an empty value does not mean no GPU: leave the variable out"
    assert bare.get("USE_CUDA") == "1", (
        "nvcc also compiles for GPUs of other machines, so a machine without a GPU can build"
    )


def test_plan_parts(plan):
    env = plan(LAPTOP, {"distributed", "symbols"})
    for name in ("BUILD_TEST", "USE_MKLDNN", "USE_FBGEMM", "USE_NNPACK", "USE_XNNPACK"):
        assert env.get(name) == "0", f"{name} was not wanted, and a build without it is shorter"
    assert "USE_DISTRIBUTED" not in env, "leave out what is wanted, so that the build decides whether it is possible"
    assert "USE_FLASH_ATTENTION" not in env, "those kernels are for CUDA; without it, there is nothing to switch off"
    assert plan(SERVER, ()).get("USE_FLASH_ATTENTION") == "0", (
        "with CUDA, switch off these kernels, which take the most memory to compile"
    )
    assert env.get("REL_WITH_DEB_INFO") == "1" and "DEBUG" not in env, "symbols without debug: optimised, with -g"
    assert "REL_WITH_DEB_INFO" not in plan(LAPTOP, {"debug", "symbols"}), "DEBUG already has the symbols"


def test_plan_ccache(plan):
    env = plan(SERVER, ())
    for language in ("C", "CXX", "CUDA"):
        assert env.get(f"CMAKE_{language}_COMPILER_LAUNCHER") == "ccache", f"ccache launches the compiler of {language}"
    env = plan({**LAPTOP, "ccache": True}, ())
    assert env.get("CMAKE_CXX_COMPILER_LAUNCHER") == "ccache" and "CMAKE_CUDA_COMPILER_LAUNCHER" not in env


def test_stale(stale):
    found = set(stale(CACHE, {"USE_CUDA": "1", "BUILD_TEST": "1", "MAX_JOBS": "6"}))
    assert "USE_CUDA" in found, "the tree was configured without CUDA and stays so, whatever the environment says"
    assert "BUILD_TEST" not in found, "ON and 1 mean the same"
    assert "MAX_JOBS" not in found, "what the cache does not hold is read again in each build"
    assert not stale(CACHE, {"USE_FBGEMM": "OFF"}), "0 and OFF mean the same"


def test_stale_lines(stale):
    assert not stale(CACHE, {"USE_MKLDNN": "1"}), "a line that begins with // is a comment"
    assert stale(CACHE, {"TORCH_CUDA_ARCH_LIST": "9.0"}) == {"TORCH_CUDA_ARCH_LIST"}, "not all values are switches"
    assert not stale(CACHE, {"CMAKE_CXX_FLAGS": " -DNDEBUG -Werror=format"}), "a value may contain an equals sign"


def test_read_build(read_build):
    found = read_build(WHEEL)
    assert found["compiler"] == "GCC 13.3", f"the compiler is the first line of the list; found {found['compiler']}"
    settings = found["settings"]
    assert settings.get("TORCH_VERSION") == "2.15.0" and settings.get("USE_CUDA") == "1", f"found {settings}"
    assert settings.get("CXX_FLAGS", "").endswith("-Werror=return-type -Wno-psabi"), (
        f"only the first equals sign of a setting separates name and value: {settings.get('CXX_FLAGS')!r}"
    )
    assert settings.get("CUDA_FLAGS", "").endswith("--diag_suppress=bad_friend_decl"), (
        f"only a comma and a space together separate settings: {settings.get('CUDA_FLAGS')!r}"
    )
    assert "" not in settings and settings.get("USE_XPU") == "OFF", "the line ends with a comma, with nothing after it"


def test_read_build_archs(read_build):
    found = read_build(WHEEL)["archs"]
    assert found == ["7.5", "9.0", "12.0"], f"sm_75 is 7.5, and sm_120 is 12.0: the last digit is the minor; {found}"
    assert list(read_build(DEBUG)["archs"]) == [], "a build without CUDA has no code for GPUs"
    found = read_build(DEBUG.rstrip(", \n"))["settings"].get("USE_CUDA")
    assert found == "0", f"the last setting counts too, with or without a comma after it; found {found!r}"


def test_read_the_installed(read_build):
    found = read_build(torch.__config__.show())
    settings = found["settings"]
    version = settings.get("TORCH_VERSION", "")
    assert version and torch.__version__.startswith(version), f"TORCH_VERSION {version!r} is not the imported torch's"
    commit = settings.get("COMMIT_SHA", torch.version.git_version)
    assert commit == torch.version.git_version, "COMMIT_SHA and torch.version.git_version name one commit"
    switched = settings.get("USE_CUDA", "").upper() in {"ON", "1", "TRUE"}
    assert switched == (torch.version.cuda is not None), f"USE_CUDA={settings.get('USE_CUDA')}, {torch.version.cuda=}"


def test_origin(origin):
    known = {"2.15.0+cu132": "release", "2.15.0": "release", "2.16.0.dev20261101+cpu": "nightly"}
    known |= {"2.16.0a0+git5d1c0ff": "source", "2.11.0+cpu": "release"}
    for version, expected in known.items():
        found = origin(version)
        assert found == expected, f"{version} is a {expected} build, not {found}: the part after the plus decides"


def test_the_imported_torch_is_what_it_says(origin):
    kind, commit = origin(torch.__version__), str(torch.version.git_version)
    if kind == "source":
        sure = "+git" in torch.__version__ and torch.__version__.partition("+git")[2] in commit
        assert sure, f"your own build names the commit of its tree, but {torch.__version__} does not"
    else:
        assert "+git" not in torch.__version__, f"{torch.__version__} was built from a source tree"


def test_doubts(doubts):
    head, tree = "5d1c0ffee0123456789abcdef0123456789abcde", "/src/pytorch"
    mine = f"{tree}/torch/__init__.py"
    assert not doubts(tree, head, mine, head), (
        "the file is in the tree and the commit is its head, so there is no doubt"
    )
    wheel = "/venv/lib/python3.11/site-packages/torch/__init__.py"
    assert set(doubts(tree, head, wheel, head)) == {"file"}, "imported from site-packages: the wheel, not the tree"
    assert set(doubts(tree, head, mine, "0" * 40)) == {"commit"}, "built before the last commit: build again"
    assert set(doubts(tree, head, wheel, None)) == {"file", "commit"}, "a missing git_version proves nothing"


def test_doubts_neighbours(doubts):
    head = "5d1c0ffee0123456789abcdef0123456789abcde"
    other = "/src/pytorch-old/torch/__init__.py"
    assert "file" in doubts("/src/pytorch", head, other, head), (
        "pytorch-old begins like pytorch, but is a different folder"
    )
    built = "/src/pytorch/build/lib/torch/__init__.py"
    assert "file" in doubts("/src/pytorch", head, built, head), (
        "this file is in the tree, but not in its folder `torch`"
    )
    mine = "/src/pytorch/torch/__init__.py"
    assert not doubts("/src/pytorch", head[:10], mine, head), "git also shortens a commit to its first digits"
    assert "commit" in doubts("/src/pytorch", head[:2], mine, head), "fewer than seven digits prove nothing"


def test_hidden_plans(plan, stale, reference, seed):
    bag = random.Random(seed)
    choices = ["tests", "distributed", "mkldnn", "quantised", "mobile", "attention", "debug", "symbols"]
    for _ in range(40):
        computer = {
            "cores": bag.randint(1, 128),
            "ram_gb": bag.choice([2, 7.5, 16, 31, 64, 200]),
            "nvcc": bag.random() < 0.5,
            "archs": bag.choices(["7.5", "8.0", "8.6", "9.0", "10.0", "12.0"], k=bag.randint(0, 4)),
            "ccache": bag.random() < 0.5,
        }
        wanted = set(bag.sample(choices, bag.randint(0, 5)))
        right = reference.plan(computer, wanted)
        assert plan(computer, wanted) == right, f"for {computer} and {sorted(wanted)}, the plan is {right}"
        earlier = {name: bag.choice(["ON", "OFF", "0", "1"]) for name in right}
        held = "\n".join(f"{name}:BOOL={value}" for name, value in earlier.items() if bag.random() < 0.7)
        assert set(stale(held, right)) == reference.stale(held, right), (
            f"for the environment {right}, the stale variables of this cache are wrong: {held}"
        )


def test_hidden_builds(read_build, reference, seed):
    bag = random.Random(seed + 3)
    for _ in range(20):
        pairs = [f"NAME_{number}={bag.choice(['ON', 'OFF', 'a=b', ' -O2 -Wl,-x', '1'])}" for number in range(6)]
        pairs += [
            "CUDA_FLAGS= " + " ".join(f"-gencode arch=compute_{n},code=sm_{n}" for n in bag.sample(range(70, 130), 3))
        ]
        bag.shuffle(pairs)
        shown = "PyTorch built with:\n  - Clang 17.0\n  - Build settings: " + ", ".join(pairs) + ", \n"
        assert read_build(shown) == reference.read_build(shown), f"the wrong build is read from {shown!r}"
