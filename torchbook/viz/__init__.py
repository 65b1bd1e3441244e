"""Visualizers: the same object live in Jupyter, Colab and VS Code, and on the plain page without a kernel."""

from torchbook.viz.attention import AttentionExplorer
from torchbook.viz.autograd import AutogradExplorer
from torchbook.viz.bottleneck import BottleneckTool
from torchbook.viz.broadcast import BroadcastExplorer
from torchbook.viz.dispatch import DispatchRoute, record_dispatch
from torchbook.viz.floats import FloatExplorer
from torchbook.viz.kvcache import KVCacheExplorer
from torchbook.viz.memory import MemoryBudget
from torchbook.viz.pipeline import PipelineTimeline
from torchbook.viz.playground import AutogradPlayground
from torchbook.viz.racer import OptimizerRacer
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

__all__ = [
    "AttentionExplorer",
    "AutogradExplorer",
    "AutogradPlayground",
    "BottleneckTool",
    "BroadcastExplorer",
    "DispatchRoute",
    "FloatExplorer",
    "KVCacheExplorer",
    "MemoryBudget",
    "OptimizerRacer",
    "PipelineSchedule",
    "PipelineTimeline",
    "RingAllReduce",
    "Roofline",
    "ScalingCalculator",
    "StrategyTool",
    "StrideExplorer",
    "SymptomFinder",
    "TileExplorer",
    "TokenizerExplorer",
    "TraceExplorer",
    "record_dispatch",
]
