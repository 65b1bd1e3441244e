"""`python -m torchbook …` is `torchbook …`."""

from torchbook.cli import app

app(prog_name="torchbook")
