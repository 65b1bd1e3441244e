"""In Colab a visualizer asks for the manager of third-party widgets, and says so beside its view."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

# A stand-in of the module that Colab has loaded before the first cell. anywidget asks once a process.
_IN_COLAB = """
import json, sys, types
asked = []
output = types.ModuleType("google.colab.output")
output.enable_custom_widget_manager = lambda: asked.append(1)
output._widgets = types.SimpleNamespace(_installed_url="https://manager.example/")
sys.modules["google.colab.output"] = output

from torchbook.viz import StrideExplorer

shown = StrideExplorer((2, 3))._repr_mimebundle_()
print(json.dumps([len(asked), shown[1]]))
"""


def test_the_manager_of_custom_widgets_is_on_once(repo: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(repo)}
    done = subprocess.run([sys.executable, "-c", _IN_COLAB], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    beside = {"colab": {"custom_widget_manager": {"url": "https://manager.example/"}}}
    assert json.loads(done.stdout) == [1, {"application/vnd.jupyter.widget-view+json": beside}]
