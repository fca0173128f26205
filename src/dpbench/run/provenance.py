"""What a run was made with: versions, machine, state of the code."""

from __future__ import annotations

import platform
import shlex
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from dpbench import __version__

PACKAGES = ("numpy", "numba", "scipy", "pyarrow")


def machine() -> dict[str, Any]:
    """Versions and CPU; results may differ in the last digits where these differ."""
    return {
        "dpbench": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "cpu": _cpu(),
        **{name: _version(name) for name in PACKAGES},
    }


def command() -> str:
    """The command line that this process was started with."""
    return shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])


def code_state() -> dict[str, Any]:
    """Commit of the checkout that the package runs from, and whether it was changed; empty for an installed one."""
    folder = Path(__file__).resolve().parent

    def git(*arguments: str) -> str:
        done = subprocess.run(  # noqa: S603  (fixed arguments)
            ["git", "-C", str(folder), *arguments],  # noqa: S607
            capture_output=True,
            text=True,
            check=True,
            timeout=5,
        )
        return done.stdout.strip()

    try:
        if "site-packages" in folder.parts:
            return {}
        return {
            "commit": git("rev-parse", "HEAD"),
            "changed": bool(git("status", "--porcelain", "--", str(folder.parent))),
        }
    except (OSError, subprocess.SubprocessError):
        return {}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
