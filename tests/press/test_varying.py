"""What cells show that is another in each run is found where it is shown, and nowhere else."""

from __future__ import annotations

import pytest

from torchbook_press.chapters import ChapterError, chapters
from torchbook_press.varying import shown

from .conftest import Book, cell

SHOWN = {
    "a clock": ("import time\ntime.time()", "time.time()"),
    "its other name": (
        "from time import perf_counter as now\nstart = now()\nprint(now() - start)",
        "time.perf_counter()",
    ),
    "the date": ("import datetime as dt\nf'{dt.datetime.now():%Y}'", "datetime.datetime.now()"),
    "a timer": ("from torch.utils.benchmark import Timer\nTimer('1').blocked_autorange().median", "Timer()"),
    "magic": ("%timeit 1 + 1", "%timeit"),
    "random": ("import random\nrandom.random()", "random.random() without random.seed()"),
    "numpy": ("import numpy as np\nnp.random.rand(2)", "numpy.random.rand() without numpy.random.seed()"),
    "its generator": ("import numpy as np\nnp.random.default_rng().normal()", "default_rng() without a seed"),
    "torch": ("import torch\ntorch.rand(2)", "torch.rand() without torch.manual_seed()"),
    "a name": ("import uuid\nuuid.uuid4().hex", "uuid.uuid4()"),
    "an address": ("x = []\nhex(id(x))", "id()"),
    "memory's": ("import torch\nx = torch.ones(2)\nx.data_ptr() % 64", "data_ptr()"),
    "cores": ("import os\nos.cpu_count()", "os.cpu_count()"),
    "a variable of the user": ("import os\nos.environ['USER']", "os.environ['USER']"),
    "all variables": ("import os\ndict(os.environ)\nprint(os.environ)", "os.environ"),
    "glued": ("import time\nfrom torchbook import glue\nglue('t', time.time(), '.0f')", "time.time()"),
    "held": ("import time\nfrom torchbook import holds\nholds('t', time.time(), '>', 0)", "time.time()"),
    "through a function": (
        "import time\ndef seconds(work):\n    start = time.time()\n    work()\n    return time.time() - start\n"
        "seconds(print)",
        "time.time()",
    ),
    "shown by a function": ("import time\ndef show(x):\n    print(x)\nshow(time.time())", "time.time()"),
    "in a list": (
        "import time\ntimes = []\nfor _ in range(3):\n    times.append(time.time())\nsum(times)",
        "time.time()",
    ),
    "in an attribute": (
        "import time\nclass Clock:\n    def __init__(self):\n        self.at = time.time()\nClock().at",
        "time.time()",
    ),
}
NOT_SHOWN = {
    "the offset of an address": "import torch\nx = torch.ones(2)\nx[1:].data_ptr() - x.data_ptr()",
    "asserted": "import time\nstart = time.time()\nassert time.time() - start < 60\n'well'",
    "assigned": "import time\nstart = time.time()",
    "not displayed": "import time\ntime.time();",
    "in a file": "import time\nwith open('log', 'w') as log:\n    print(time.time(), file=log)",
    "seeded": "import random\nrandom.seed(0)\nrandom.random()",
    "seeded, of the book": (
        "import random, torch\nfrom torchbook.runtime import seed_everything\nseed_everything(0)\n"
        "random.random(), torch.rand(2)"
    ),
    "seeded generators": (
        "import random, torch, numpy as np\nrandom.Random(0).random(), np.random.default_rng(0).normal(), "
        "torch.rand(2, generator=torch.Generator())"
    ),
    "same address": "x, y = [], []\nid(x) == id(y), {id(x)} == {id(y)}",
    "a part": "import time\nanswer, seconds = 42, time.time()\nanswer",
    "a part of a function's": "import time\ndef run():\n    return 42, time.time()\nanswer, _ = run()\nanswer",
    "a key": "import time\nseen = {'answer': 42, 'seconds': time.time()}\nseen['answer']",
    "a field": (
        "import time\nfrom dataclasses import dataclass\n@dataclass\nclass Run:\n    code: int\n    seconds: float\n"
        "Run(0, time.time()).code"
    ),
    "its shape": "import time, torch\nspans = torch.tensor([time.time()])\nspans.shape, len(spans)",
    "replaced": "import time\nnow = time.time()\nnow = 0\nnow",
    "a variable that every kernel has": "import os\nos.environ['OMP_NUM_THREADS']",
    "variables of a program": "import os, subprocess\nsubprocess.run(['true'], env=os.environ | {'A': 'b'}).returncode",
    "a constant clock": "import time\ntime.strftime('%Y', (2026,) + (1,) * 8)",
    "a parameter of the same name": (
        "import time\nwork = lambda: time.time()\ndef twice(work):\n    return work()\ntwice(lambda: 1)"
    ),
    "no Python": "1 +",
}


@pytest.mark.parametrize(("source", "named"), SHOWN.values(), ids=SHOWN)
def test_what_is_another_in_each_run_is_named(source: str, named: str) -> None:
    (sources,) = shown([source])
    assert [name for name in sources if name.endswith(named)], sources


@pytest.mark.parametrize("source", NOT_SHOWN.values(), ids=NOT_SHOWN)
def test_what_stays_is_not(source: str) -> None:
    assert shown([source]) == [frozenset()]


def test_a_later_cell_shows_what_an_earlier_one_measured() -> None:
    sources = shown(["import time\nspan = time.time()", "1", "f'{span:.1f} s'"])
    assert list(map(len, sources)) == [0, 0, 1]


def test_a_chapter_that_shows_it_untagged_is_refused(book: Book) -> None:
    book.chapter("one", cell("import time"), cell("time.time()", "varies"), cell("print(time.time())"))
    with pytest.raises(ChapterError, match=r"^book/one\.md:34: cell 4: shows time\.time\(\), which is another in each"):
        [chapter.notebook for chapter in chapters(book.root)]


def test_a_chapter_that_shows_it_tagged_is_a_chapter(book: Book) -> None:
    book.chapter("one", cell("import time\ntime.time()", "varies"))
    (chapter,) = chapters(book.root)
    assert len(chapter.code) == 2
