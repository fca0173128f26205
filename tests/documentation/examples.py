"""The fenced blocks of README.md and docs/*.md, found and executed.

A comment that readers do not see may stand before a block; its lines say what a test has to know:

    file NAME                   the block is a file of that name (Python files name themselves in their first line)
    slow: TEXT => OTHER         the default run executes OTHER for TEXT; the slow run executes what is shown
    never (WHY): TEXT => OTHER  no test can execute what is shown; OTHER is executed for it in every run
    exit N: COMMAND             the command ends with exit code N; with one of two: exit 0 or 1
    needs MODULE                executed where the module is installed, reported as skipped elsewhere
"""

import contextlib
import importlib.util
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from dpbench.cli import main

COMMANDS = ("", "sh")
FILES = ("toml",)
OUTPUT = "text"
DIRECTIVES = ("{include}", "{literalinclude}", "{toctree}")
FENCE = re.compile(
    r"(?:<!-- example:\n(?P<notes>.*?)-->\n+)?^```(?P<language>[^\n`]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
NOTE = re.compile(
    r"file (?P<file>\S+)|(?:slow|never \((?P<why>[^)]+)\)): (?P<shown>.+?) => (?P<run>.+)"
    r"|exit (?P<codes>\d+(?: or \d+)*): (?P<command>.+)|needs (?P<module>\w+)"
)


class Unknown(Exception):
    """A block or a note that nobody would execute."""


@dataclass
class Block:
    """One fenced block with its notes."""

    where: str
    language: str
    text: str
    file: str = ""
    exchanged: list[tuple[str, str, bool]] = field(default_factory=list)
    """Text shown, text executed, and whether in every run."""
    codes: dict[str, set[int]] = field(default_factory=dict)
    needs: str = ""
    """A module that the block cannot do without."""

    def executed(self, *, slow):
        """What a run executes."""
        text = self.text
        for shown, other, always in self.exchanged:
            if always or not slow:
                text = re.sub(self._pattern(shown), lambda _, other=other: other, text, flags=re.MULTILINE)
        return text

    def shows(self, text):
        """Whether a note speaks of something in the block."""
        return re.search(self._pattern(text), self.text, flags=re.MULTILINE) is not None

    def _pattern(self, text):
        """A text in the block; of a command, its end, so that another that only begins alike is not meant."""
        return re.escape(text) + (r"(?=\s*(?:#.*)?$)" if self.language in COMMANDS else "")


def blocks(path):
    """Every block of a document; one that is of no known kind is an error."""
    document = Path(path).read_text(encoding="utf-8")
    found = [_block(match, document, Path(path).name) for match in FENCE.finditer(document)]
    fences, notes = document.count("```"), document.count("<!-- example:")
    if fences != 2 * len(found) or notes != document.count("<!-- example:\n") or notes > len(found):
        raise Unknown(f"{path}: a fence or a note was not understood")
    return found


def _block(match, document, name):
    where = f"{name}, line {document[: match.start('text')].count(chr(10))}"
    language, text = match["language"].strip(), match["text"]
    block = Block(where, language, text)
    if language.split(" ")[0] not in (*COMMANDS, *FILES, *DIRECTIVES, OUTPUT, "python"):
        raise Unknown(f"{where}: blocks in {language!r} are executed by nobody")
    for line in (match["notes"] or "").strip().splitlines():
        _note(block, line)
    named = re.match(r"# (\w+\.py)\n", text)
    if language == "python" and named:
        block.file = named[1]
    if language in FILES and not block.file:
        raise Unknown(f"{where}: a file without a name")
    return block


def _note(block, line):
    note = NOTE.fullmatch(line.strip())
    if note is None:
        raise Unknown(f"{block.where}: the note {line!r} is not understood")
    if note["file"]:
        block.file = note["file"]
    elif note["shown"]:
        if not block.shows(note["shown"]):
            raise Unknown(f"{block.where}: {note['shown']!r} is not in the block")
        block.exchanged.append((note["shown"], note["run"], note["why"] is not None))
    elif note["command"]:
        if not block.shows(note["command"]):
            raise Unknown(f"{block.where}: {note['command']!r} is not in the block")
        block.codes[note["command"]] = {int(code) for code in note["codes"].split(" or ")}
    else:
        block.needs = note["module"]


class Session:
    """Executes the blocks of one document in a folder of its own, one after the other.

    The folder has the adapters where a clone has them, as copies: nothing that is executed can change the clone.
    """

    def __init__(self, root, folder, *, slow):
        self.slow = slow
        self.folder = folder
        self.names = {}
        self.printed = None
        """What the last block printed, if it was executed as shown."""
        self.skipped = []
        shutil.copytree(root / "docs" / "adapters", folder / "docs" / "adapters")
        self.environment = {**os.environ, "ROOT": str(root), "PATH": f"{_shim(folder)}:{os.environ['PATH']}"}

    def run(self, found):
        """Files first, because readers make them before they are used; then everything else."""
        for block in found:
            if block.file:
                (self.folder / block.file).write_text(block.executed(slow=self.slow))
        for block in found:
            if not block.file and not block.language.startswith("{"):
                self._execute(block)

    def _execute(self, block):
        if block.language == OUTPUT:
            self._compare(block)
            return
        self.printed = None
        if block.needs and importlib.util.find_spec(block.needs) is None:
            self.skipped.append(f"{block.where} needs {block.needs}, which is not installed")
            return
        text = block.executed(slow=self.slow)
        printed = self._python(text, block.where) if block.language == "python" else self._commands(text, block)
        self.printed = printed if _only_serial(text) == _only_serial(block.text) else None

    def _python(self, text, where):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile(text, where, "exec"), self.names)  # noqa: S102  (our own documentation)
        return out.getvalue()

    def _commands(self, text, block):
        printed = []
        for line in text.replace("\\\n", " ").splitlines():
            if not line.strip() or line.startswith("#"):
                continue
            code, out, err = self._command(line)
            stated = [codes for shown, codes in block.codes.items() if line.startswith(shown)]
            if code not in (stated[0] if stated else {0}):
                raise AssertionError(f"{block.where}: {line}\nended with {code}\n{out}\n{err}")
            printed.append(out)
        return "".join(printed)

    def _command(self, line):
        """Ours in this process, because it is quicker; a line that needs a shell in one."""
        words = shlex.split(line, comments=True)
        if words[0] != "dpbench" or "$" in line or any(word in {"|", ">", "&&"} for word in words):
            shell = ["bash", "-euo", "pipefail", "-c", line]
            done = subprocess.run(shell, env=self.environment, capture_output=True, text=True, check=False)
            return done.returncode, done.stdout, done.stderr
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                code = main(words[1:])
            except SystemExit as ended:
                code = ended.code or 0
        return code, out.getvalue(), err.getvalue()

    def _compare(self, block):
        """An output block is what the block before it printed; a line of three dots stands for any lines."""
        if self.printed is None:
            return
        pattern = ".*?".join(re.escape(part) for part in re.split(r"^\.\.\.\n", block.text, flags=re.MULTILINE))
        if not re.fullmatch(pattern + r"\n*", self.printed, flags=re.DOTALL):
            raise AssertionError(f"{block.where} shows\n{block.text}\nbut this was printed:\n{self.printed}")


def _only_serial(text):
    """A text without the option that only decides where work is done."""
    return text.replace(" --jobs 0", "")


def _shim(folder):
    """A folder with the commands ``dpbench`` and ``python`` of this very interpreter."""
    made = folder / ".commands"
    made.mkdir()
    for name, call in (
        ("dpbench", f'exec "{sys.executable}" -m dpbench "$@"'),
        ("python", f'exec "{sys.executable}" "$@"'),
    ):
        (made / name).write_text(f"#!/bin/sh\n{call}\n")
        (made / name).chmod(0o755)
    return made
