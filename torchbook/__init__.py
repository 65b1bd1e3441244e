"""What the chapters of PyTorch Inside Out import.

The short public API is four modules, `data` (data sets), `runtime` (device, lane, seeds), `figures` (plots with a text
alternative) and `practice` (exercises: check, hint, solution), and the function `glue` (a number of the run, for the
prose). The chapters on language models also share `llm`, the small GPT that they build.
Importing the package imports none of torch, torchvision or plotly.
"""

from torchbook._glue import glue

__all__ = ["__version__", "glue"]
__version__ = "0.1.0"
