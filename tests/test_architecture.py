import subprocess
import sys

import pytest


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
