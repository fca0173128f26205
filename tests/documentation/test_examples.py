"""Every fenced command and Python block of README.md and docs/*.md is executed."""

from pathlib import Path

import pytest

from documentation.examples import Session, Unknown, blocks

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
WITH_EXAMPLES = [path for path in DOCUMENTS if "```" in path.read_text()]
NAMES = [path.name for path in WITH_EXAMPLES]


def execute(path, folder, *, slow):
    """Run a document; a block that lacks a module is reported as skipped, after everything else has passed."""
    session = Session(ROOT, folder, slow=slow)
    session.run(blocks(path))
    if session.skipped:
        pytest.skip("everything else passed; " + "; ".join(session.skipped))


LONGEST = "tutorial.md"
"""Half a minute even with stand-ins; it goes on from README, which has the same commands."""


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=[pytest.mark.slow] * (path.name == LONGEST), id=path.name) for path in WITH_EXAMPLES],
)
def test_examples_run(path, tmp_path, monkeypatch):
    """With small stand-ins where a block is marked as slow."""
    monkeypatch.chdir(tmp_path)
    execute(path, tmp_path, slow=False)


@pytest.mark.slow
@pytest.mark.usefixtures("histograms")
@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=NAMES)
def test_examples_run_as_shown(path, tmp_path, monkeypatch):
    """Without stand-ins but for what no test can do."""
    monkeypatch.chdir(tmp_path)
    execute(path, tmp_path, slow=True)


def test_the_guides_have_examples():
    """The documents that teach by examples are among those executed."""
    assert {"README.md", "first-steps.md", "tutorial.md", "choosing.md", "reproduce.md", "command-line.md"} <= set(
        NAMES
    )


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("```ruby\nputs 1\n```\n", "executed by nobody"),
        ("```sh\ndpbench list suites\n", "not understood"),
        ("```toml\na = 1\n```\n", "without a name"),
        ("<!-- example:\nlater: a => b\n-->\n```sh\na\n```\n", "not understood"),
        ("<!-- example:\nslow: b => c\n-->\n```sh\na\n```\n", "not in the block"),
        ("<!-- example: file a -->\n```toml\na = 1\n```\n", "without a name"),
    ],
)
def test_nothing_is_skipped_silently(text, cause, tmp_path):
    """A block or a note that is not understood fails."""
    (tmp_path / "page.md").write_text(text)
    with pytest.raises(Unknown, match=cause):
        blocks(tmp_path / "page.md")


@pytest.mark.parametrize(
    "text",
    [
        "```sh\ndpbench list nothing\n```\n",
        "```sh\nfalse\n```\n",
        "```python\n1 / 0\n```\n",
        "<!-- example:\nexit 1: dpbench list suites\n-->\n```sh\ndpbench list suites\n```\n",
        "```python\nprint(1)\n```\n\n```text\n2\n```\n",
    ],
)
def test_a_wrong_example_fails(text, tmp_path, monkeypatch):
    """A command that ends badly, an exception, an output that is not what was printed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.md").write_text(text)
    with pytest.raises((AssertionError, ZeroDivisionError)):
        execute(tmp_path / "page.md", tmp_path, slow=False)


def test_a_block_without_its_module_is_reported(tmp_path, monkeypatch):
    """And is not executed; with the module it is."""
    monkeypatch.chdir(tmp_path)
    block = "<!-- example:\nneeds {}\n-->\n```sh\nfalse\n```\n"
    for name in ("no_such_module", "numpy"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "page.md").write_text(block.format(name))
    with pytest.raises(pytest.skip.Exception, match="line 4 needs no_such_module, which is not installed"):
        execute(tmp_path / "no_such_module" / "page.md", tmp_path / "no_such_module", slow=False)
    with pytest.raises(AssertionError, match="ended with 1"):
        execute(tmp_path / "numpy" / "page.md", tmp_path / "numpy", slow=False)


def test_commands_find_the_adapters_and_cannot_change_those_of_the_clone(tmp_path):
    """As a reader does who stands in a clone."""
    Session(ROOT, tmp_path, slow=False)
    copied = tmp_path / "docs" / "adapters" / "opendp_histograms.py"
    assert copied.read_text() == (ROOT / "docs" / "adapters" / copied.name).read_text()
    assert not copied.samefile(ROOT / "docs" / "adapters" / copied.name)
