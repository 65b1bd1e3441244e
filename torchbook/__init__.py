"""What the chapters of PyTorch Inside Out import.

The short public API is four modules, `data` (data sets), `runtime` (device, lane, seeds), `figures` (plots with a text
alternative) and `practice` (exercises: check, hint, solution), and the functions `glue` (a number of the run, for the
prose) and `holds` (the evidence of a sentence). The chapters on language models also share `llm`, the small GPT that
they build.
Importing the package imports none of torch, torchvision or plotly.
"""

from torchbook._glue import glue
from torchbook._holds import holds

__all__ = ["__version__", "glue", "holds"]
__version__ = "0.1.0"
