"""`torchbook live`: a server for this machine's user alone, with a folder of its own that goes when it ends."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from pathlib import Path

from torchbook.server import site

FOLDER = "TORCHBOOK_LIVE"  # names the folder in which each page's kernel makes its own
# As the book's run: results follow from the count of threads, and the order of sets from the seed of hashes.
_VARIABLES = {"OMP_WAIT_POLICY": "PASSIVE", "PYTHONHASHSEED": "0", "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
# A kernel whose page is gone is ended after ten minutes.
_KERNELS = ("--MappingKernelManager.cull_idle_timeout=600", "--MappingKernelManager.cull_interval=60")


class NotReadyError(Exception):
    """Something that this needs is not there; the message says what, and the remedy."""


def require(*, torch: bool = True) -> None:
    """See that cells can run here.

    Args:
        torch: whether it must be in this Python; cells may run on a Binder.

    Raises:
        NotReadyError: jupyter_server, ipykernel or torch is missing.
    """
    missing = [name for name in ("jupyter_server", "ipykernel") if importlib.util.find_spec(name) is None]
    if missing:
        raise NotReadyError(f'{" and ".join(missing)} missing, which run cells: pip install "torchbook[live]"')
    if torch and importlib.util.find_spec("torch") is None:
        raise NotReadyError(
            "torch is missing in this Python, so that no cell could run: pip install torch torchvision, then "
            "`torchbook live` again"
        )


def start(folder: Path, exercise: str, *, port: int, browser: bool, binder: str = "") -> None:
    """Serve a site on this machine until the reader stops it.

    Args:
        folder: the built site.
        exercise: the one at which it opens, "" for the first page.
        port: the first that is tried; where it is taken, the next.
        browser: open one.
        binder: address of a BinderHub that pages offer; "" for none.

    Raises:
        SiteError: no page has that exercise.
    """
    address = "torchbook/index.html"
    if exercise:
        site.page_of(folder, exercise)
        address = f"torchbook-live/exercise/{exercise}"
    os.environ["JUPYTER_NO_CONFIG"] = (
        "1"  # what was set for other servers (no token, all addresses) is not for this one
    )
    os.environ.update({name: value for name, value in _VARIABLES.items() if name not in os.environ})
    from torchbook.server.app import Live

    with tempfile.TemporaryDirectory(prefix="torchbook-live-", ignore_cleanup_errors=True) as own:
        contents = Path(own, "empty")
        kernels = Path(own, "kernels")
        contents.mkdir()
        kernels.mkdir()
        os.environ[FOLDER] = str(kernels)
        Live.serverapp_config = {
            "allow_remote_access": False,
            "allow_root": True,  # of a container
            "default_url": f"/{address}",
            "disable_check_xsrf": False,
            "ip": "127.0.0.1",
            "log_level": "WARN",
            "open_browser": browser,
            "port": port,
            "port_retries": 50,
            "quit_button": False,
            "root_dir": str(contents),
            "terminals_enabled": False,
        }
        Live.launch_instance(
            argv=[f"--Live.site={folder}", f"--Live.binder={binder}", "--Live.log_level=WARN", *_KERNELS]
        )
