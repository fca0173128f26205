"""A worker process that does not outlive who started it."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time

_PARENT_DEATH_SIGNAL = 1


def die_with(parent: int) -> None:
    """End when the parent does, even in the middle of something."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
