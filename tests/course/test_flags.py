"""What is flagged in an answer for a person to look at, and what is not."""

from __future__ import annotations

import pytest

from torchbook_course.flags import flags

SUSPICIOUS = {
    "sys._getframe": "import sys\nsys._getframe(1)",
    "__main__": "import sys\nx = '__main__'",
    "import gc": "import gc",
    "import ctypes": "from ctypes import CDLL",
    "import inspect": "import torch, inspect as i",
    "import importlib": "from importlib import reload",
    "import subprocess": "import subprocess",
    "import socket": "import socket",
    "import signal": "def f():\n    import signal",
    "import builtins": "import builtins",
    "import torch.testing": "import torch.testing as t",
    "os.write": "import os\nos.write(100, b'')",
    "os._exit": "from os import _exit",
    "os.execv": "import os\nos.execv('a', [])",
    "get_ipython": "get_ipython()",
    "sys.modules": "import sys\nsys.modules",
    "torch.testing.assert_close =": "import torch\ntorch.testing.assert_close = print",
    "torch.equal =": "import torch\ntorch.equal, x = print, 1",
    "setattr(torch.testing, …)": "setattr(torch.testing, 'assert_close', print)",
    "builtins.all =": "builtins.all = print",
    "/proc": "open('/proc/self/maps')",
    "f_back": "frame = f()\nframe().f_back",
    "__globals__": "f.__globals__",
    "exec": "exec('1')",
    "open": "open('x')",
    "torch.load": "import torch\ntorch.load('x')",
    "__eq__": "class A:\n    def __eq__(self, other): return True",
    "json._default_encoder.encode =": "import json\njson._default_encoder.encode = print",
    "types.SimpleNamespace =": "import types\ntypes.SimpleNamespace = print",
    "c.deepcopy =": "import copy as c\nc.deepcopy = print",
    "getattr of a computed name": "import sys\ngetattr(sys, '_get' + 'frame')",
    "_getframe": "import sys\ngetattr(sys, '_getframe')",
    "__ne__": "class A:\n    __ne__ = lambda *_: False",
    "__import__": "__import__('os')",
    "import _signal": "import _signal",
    "import concurrent": "from concurrent.futures import ThreadPoolExecutor",
    "import pytest": "from pytest import approx",
    "torch.ctypes": "import torch\nc = torch.ctypes",
    "torch.sys.modules": "import torch\ntorch.sys.modules",
    "f_locals": "match frame:\n    case object(f_locals=x): pass",
    "getattr": "g = getattr",
    "attrgetter": "from operator import attrgetter as take",
    "get_field": "import string\nstring.Formatter().get_field('0.x', (object,), {})",
    "__self__": "print.__self__",
    "type.__dict__": "type.__dict__['x']",
    "type(…)": "T = type('T', (), {})",
    "make_dataclass(…)": "from dataclasses import make_dataclass\nmake_dataclass('T', [], namespace={})",
    "__eq__ =": "def f(): pass\nT.__eq__ = f",
    "torch as a value": "import torch\nm = torch",
    "m.equal =": "import torch\nm = torch.testing\nm.equal = print",
    "type(x).equal =": "x = 1\ntype(x).equal = print",
    "x.__class__.equal =": "x = 1\nx.__class__.equal = print",
    "__setattr__": "import torch\nobject.__setattr__(torch, 'equal', print)",
    "Library of aten": "import torch\ntorch.library.Library('aten', 'IMPL')",
    "impl of aten": "import torch\ntorch.library.impl('aten::equal', 'CPU')",
    "__torch_dispatch__": "class A:\n    def __torch_dispatch__(self, *_): return True",
    "torch._jit_internal": "import torch\ntorch._jit_internal",
    "pandas.eval": "import pandas\npandas.eval('x')",
    "query(level=…)": "table.query('x', level=3)",
    "weights_only=False": "load('x', weights_only=False)",
    "allow_pickle=True": "import numpy as np\nnp.load(file, allow_pickle=True)",
    "import pydoc": "import pydoc",
    "get_type_hints": "import typing\ntyping.get_type_hints(f)",
    "__subclasses__": "x = '__subclasses__'",
}
HONEST = [
    "import torch\nimport os, random, math\nrandom.seed(1)\nx = torch.zeros(3)\nx[0] = 1\nx.grad = None",
    "model.modules()\nself.weight = 1\nmodel.eval()",
    "def step(optim):\n    optim.param_groups[0]['lr'] = 0.1",
    "if __name__ == '__main__':\n    print(1)",
    "import torch\ntorch.backends.cudnn.benchmark = False\ntorch.manual_seed(0)",
    "import re\nre.compile('a')",
    "import torch\nfrom torch import nn\nsetattr(parent, name, nn.Linear(2, 2))\nmodel.eval()",
    "import torch\nF = torch.nn.functional\nF.relu(x)",
    "class A:\n    def __init__(self):\n        self.__dict__['model'] = 1\n        self.__class__.count += 1",
    "import torch\nlib = torch.library.Library('mine', 'DEF')\nlib.impl('f', f, 'CPU')",
    "import torch\ntorch.library.register_fake('mine::f')",
    "import numpy as np\nprint(np, hasattr(np, 'x'), type(x), type(x) is int)\nwindow = torch.signal.windows.hann(3)",
]


@pytest.mark.parametrize(("construct", "code"), SUSPICIOUS.items(), ids=SUSPICIOUS)
def test_a_suspicious_construct_is_flagged_in_its_line(construct: str, code: str) -> None:
    matching = [flag for flag in flags(code) if flag.construct == construct]
    assert [flag.line for flag in matching] == [code.count("\n") + 1 if "class A" not in code else 2]
    assert matching[0].why


@pytest.mark.parametrize("code", HONEST)
def test_honest_code_is_not_flagged(code: str) -> None:
    assert flags(code) == []


def test_flags_come_in_the_order_of_lines() -> None:
    assert [flag.line for flag in flags("x = 1\nimport gc\n\nimport ctypes\n")] == [2, 4]


@pytest.mark.parametrize("code", ["x = = 1", "a\0b", "(" * 10_000, "-" * 100_000 + "1"])
def test_code_that_cannot_be_parsed_has_one_flag(code: str) -> None:
    assert [flag.construct for flag in flags(code)] == ["not Python"]
