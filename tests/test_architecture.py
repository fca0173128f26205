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
