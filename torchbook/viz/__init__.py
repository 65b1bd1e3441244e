"""Visualizers: the same object live in Jupyter, Colab and VS Code, and on the plain page without a kernel."""

from torchbook.viz.autograd import AutogradExplorer
from torchbook.viz.broadcast import BroadcastExplorer
from torchbook.viz.floats import FloatExplorer
from torchbook.viz.playground import AutogradPlayground
from torchbook.viz.racer import OptimizerRacer
from torchbook.viz.scaling import ScalingCalculator
from torchbook.viz.stride import StrideExplorer
from torchbook.viz.trace import TraceExplorer

__all__ = [
    "AutogradExplorer",
    "AutogradPlayground",
    "BroadcastExplorer",
    "FloatExplorer",
    "OptimizerRacer",
    "ScalingCalculator",
    "StrideExplorer",
    "TraceExplorer",
]
