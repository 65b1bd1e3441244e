# ruff: noqa: F401
"""Visualizers: the same object live in Jupyter, Colab and VS Code, and on the plain page without a kernel.

Each is imported when it is first asked for, so that a chapter reads the modules of those that it shows and no others:
then only a change of these runs it again. The imports below are the only list of names. Whoever reads the code follows
them: mypy, editors, the drawing of the imports. When it runs, they say in which module a name is found.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torchbook.viz.attention import AttentionExplorer
    from torchbook.viz.autograd import AutogradExplorer
    from torchbook.viz.bottleneck import BottleneckTool
    from torchbook.viz.broadcast import BroadcastExplorer
    from torchbook.viz.dispatch import DispatchRoute
    from torchbook.viz.floats import FloatExplorer
    from torchbook.viz.kvcache import KVCacheExplorer
    from torchbook.viz.living import LivingModel
    from torchbook.viz.memory import MemoryBudget
    from torchbook.viz.microscope import StepMicroscope
    from torchbook.viz.pipeline import PipelineTimeline
    from torchbook.viz.playground import AutogradPlayground
    from torchbook.viz.racer import OptimizerRacer
    from torchbook.viz.ranks import RankStepper
    from torchbook.viz.record import record_dispatch
    from torchbook.viz.ring import RingAllReduce
    from torchbook.viz.roofline import Roofline
    from torchbook.viz.scaling import ScalingCalculator
    from torchbook.viz.schedule import PipelineSchedule
    from torchbook.viz.strategy import StrategyTool
    from torchbook.viz.stride import StrideExplorer
    from torchbook.viz.symptoms import SymptomFinder
    from torchbook.viz.tiles import TileExplorer
    from torchbook.viz.tokenizer import TokenizerExplorer
    from torchbook.viz.trace import TraceExplorer


def _modules() -> dict[str, str]:
    """The module of each name that the imports of this file name."""
    tree = ast.parse(Path(__file__).read_text(encoding="utf-8"))
    return {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"{__name__}.")
        for alias in node.names
    }


_MODULES = _modules()
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
