"""Compile every kernel ahead of use and say so: ``python -m dpbench.mathematics.kernels``."""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pkgutil import iter_modules

from dpbench.mathematics import kernels


def main() -> None:
    """Import each module of kernels; their signatures are explicit, so importing compiles or loads them."""
    start = time.perf_counter()
    names = [module.name for module in iter_modules(kernels.__path__) if module.name != "__main__"]
    for number, name in enumerate(names, 1):
        sys.stderr.write(f"compiling kernels {number}/{len(names)}: {name} (once; kept on disk)\n")
        import_module(f"dpbench.mathematics.kernels.{name}")
    sys.stderr.write(f"kernels are ready after {time.perf_counter() - start:.1f} s\n")


if __name__ == "__main__":
    main()
