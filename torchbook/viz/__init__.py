"""Visualizers: the same object live in Jupyter, Colab and VS Code, and on the plain page without a kernel.

Each is imported when it is first asked for, so that a chapter reads the modules of those that it shows and no others:
then only a change of these runs it again.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for whoever reads the code: mypy, editors, the drawing of the imports
    from torchbook.viz.attention import AttentionExplorer as AttentionExplorer
    from torchbook.viz.autograd import AutogradExplorer as AutogradExplorer
    from torchbook.viz.bottleneck import BottleneckTool as BottleneckTool
    from torchbook.viz.broadcast import BroadcastExplorer as BroadcastExplorer
    from torchbook.viz.dispatch import DispatchRoute as DispatchRoute
    from torchbook.viz.floats import FloatExplorer as FloatExplorer
    from torchbook.viz.kvcache import KVCacheExplorer as KVCacheExplorer
    from torchbook.viz.memory import MemoryBudget as MemoryBudget
    from torchbook.viz.pipeline import PipelineTimeline as PipelineTimeline
    from torchbook.viz.playground import AutogradPlayground as AutogradPlayground
    from torchbook.viz.racer import OptimizerRacer as OptimizerRacer
    from torchbook.viz.record import record_dispatch as record_dispatch
    from torchbook.viz.ring import RingAllReduce as RingAllReduce
    from torchbook.viz.roofline import Roofline as Roofline
    from torchbook.viz.scaling import ScalingCalculator as ScalingCalculator
    from torchbook.viz.schedule import PipelineSchedule as PipelineSchedule
    from torchbook.viz.strategy import StrategyTool as StrategyTool
    from torchbook.viz.stride import StrideExplorer as StrideExplorer
    from torchbook.viz.symptoms import SymptomFinder as SymptomFinder
    from torchbook.viz.tiles import TileExplorer as TileExplorer
    from torchbook.viz.tokenizer import TokenizerExplorer as TokenizerExplorer
    from torchbook.viz.trace import TraceExplorer as TraceExplorer

_MODULES = {
    "AttentionExplorer": "attention",
    "AutogradExplorer": "autograd",
    "AutogradPlayground": "playground",
    "BottleneckTool": "bottleneck",
    "BroadcastExplorer": "broadcast",
    "DispatchRoute": "dispatch",
    "FloatExplorer": "floats",
    "KVCacheExplorer": "kvcache",
    "MemoryBudget": "memory",
    "OptimizerRacer": "racer",
    "PipelineSchedule": "schedule",
    "PipelineTimeline": "pipeline",
    "RingAllReduce": "ring",
    "Roofline": "roofline",
    "ScalingCalculator": "scaling",
    "StrategyTool": "strategy",
    "StrideExplorer": "stride",
    "SymptomFinder": "symptoms",
    "TileExplorer": "tiles",
    "TokenizerExplorer": "tokenizer",
    "TraceExplorer": "trace",
    "record_dispatch": "record",
}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
