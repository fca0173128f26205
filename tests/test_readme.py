import re


def test_paths_in_the_table_exist(request):
    """Every path that the README names is there."""
    root = request.config.rootpath
    paths = re.findall(r"`(src/[\w/.]+)`", (root / "README.md").read_text())
    assert len(paths) >= 9
    assert all((root / path).exists() for path in paths)
