import ast
import subprocess
import sys
from pathlib import Path

import pytest

import dpbench

PICKLERS = {"pickle", "cPickle", "_pickle", "marshal", "shelve", "dill", "cloudpickle", "joblib"}
"""Modules whose bytes can run code where they are read."""
UNPICKLERS = {
    "run/executors/frames.py": "requests to a plug-in's process are pickles; what comes back never is",
    "run/executors/processes.py": "rows come from workers of ours, in which no plug-in is loaded",
    "run/interviews.py": "so do answers, as frames, from a process of ours that asks plug-ins in others",
}
"""The modules that may use them, and why."""


def test_import_contracts_are_kept(request):
    """Who may import whom, as pyproject.toml says it, is kept by every module."""
    from importlinter.cli import lint_imports

    assert lint_imports(config_filename=str(request.config.rootpath / "pyproject.toml"), no_cache=True) == 0


@pytest.mark.parametrize("module", ["numba", "scipy", "pandas", "rich", "platformdirs", "shtab", "numpy"])
def test_help_imports_nothing_heavy(module):
    """dpbench --help answers without loading the packages that make it slow."""
    code = (
        "import sys\nfrom dpbench.cli import build_parser\nbuild_parser().format_help()\n"
        f"sys.exit({module!r} in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_module_is_imported_without_numba(request):
    """Kernels are compiled only when something runs: listing the catalogue does not load numba."""
    code = "import sys\nimport dpbench\ndpbench.algorithms.catalogue()\nsys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_no_module_is_shadowed_by_a_function_of_its_name():
    """``dpbench.package.module`` is the module, whatever else the package exports."""
    code = (
        "import importlib, pkgutil, sys\n"
        "import dpbench\n"
        "names = [each.name for each in pkgutil.walk_packages(dpbench.__path__, 'dpbench.')]\n"
        "modules = {name: importlib.import_module(name) for name in names if not name.endswith('__main__')}\n"
        "attribute = lambda name: getattr(sys.modules[name.rpartition('.')[0]], name.rpartition('.')[2])\n"
        "print(*[name for name, module in modules.items() if attribute(name) is not module])\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert shown.split() == []


def test_only_named_modules_pickle():
    """Nothing that was written where a plug-in runs is unpickled."""
    root = Path(dpbench.__file__).parent
    found = set()
    for path in root.rglob("*.py"):
        text = path.read_text()
        for node in ast.walk(ast.parse(text)) if any(name in text for name in PICKLERS) else ():
            named = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            named += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if {name.partition(".")[0] for name in named} & PICKLERS:
                found.add(path.relative_to(root).as_posix())
    assert found == set(UNPICKLERS)
