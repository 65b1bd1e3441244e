"""Cells that run in the page: `torchbook live`, and an extension of `jupyter_server` that serves the built site.

    torchbook live                       # on this machine, for its user alone
    jupyter server extension enable torchbook.server    # on a JupyterHub, once; TORCHBOOK_SITE names the built site

Pages and kernels have one origin. Into each page that it serves, the extension writes one `<meta>` and the client that
it is meant for; the files of the site stay as they are, and a page that is read without it knows nothing of kernels.
"""

from __future__ import annotations

from typing import Any


def _jupyter_server_extension_points() -> list[dict[str, Any]]:
    """What jupyter_server asks of an extension."""
    from torchbook.server.app import Live

    return [{"module": "torchbook.server", "app": Live}]
