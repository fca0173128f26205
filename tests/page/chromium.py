"""A page in the Chromium of this machine, driven by Playwright, and what axe-core finds in it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
DRIVERS = ("playwright", "axe_playwright_python")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
)


def find() -> str | None:
    """The browser of this machine, if it has one."""
    return next((found for found in map(shutil.which, NAMES) if found), None)


def missing() -> str:
    """What browser tests lack here, in one line; empty where they can run."""
    if find() is None:
        return "there is no Chromium on this machine"
    lacking = [name for name in DRIVERS if find_spec(name) is None]
    return f"{' and '.join(lacking)} missing: pip install -r requirements-browser.lock" if lacking else ""


class Browser:
    """One page at a time in one browser; notes every request, console message and error."""

    def __init__(self) -> None:
        from playwright.sync_api import sync_playwright

        self.driver = sync_playwright().start()
        self.browser = self.driver.chromium.launch(executable_path=find(), args=list(FLAGS))
        self.page: Any = None
        self.asked: list[str] = []
        self.said: list[str] = []

    def open(self, path: Path, address: str = "", width: int = 1400, height: int = 900, dark: bool = False) -> None:
        """Open a file in a fresh window and wait until it is drawn."""
        if self.page:
            self.page.context.close()
        scheme = "dark" if dark else "light"
        window = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
        self.page = window.new_page()
        self.page.set_default_timeout(60_000)
        self.asked, self.said = [], []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("console", self._note)
        self.page.goto(path.resolve().as_uri() + address)
        self.wait("document.body.dataset.ready === 'yes'")

    def go(self, address: str) -> None:
        """Change the address of the open page, and wait until that is drawn."""
        self.run(f"location.hash = {address!r}")
        self.run("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")

    def _note(self, message: Any) -> None:
        if message.type in ("error", "warning", "assert"):
            self.said.append(message.text)

    def run(self, script: str) -> Any:
        """The value of an expression in the page, awaited if it is a promise."""
        return self.page.evaluate(script)

    def wait(self, condition: str) -> None:
        self.page.wait_for_function(condition)

    def choose(self, selector: str, value: str) -> None:
        """Choose an option of a list, as a user does."""
        self.page.select_option(selector, value)

    def requests(self) -> list[str]:
        """Addresses that were asked for, beside the file itself and what lies inside it."""
        return [url for url in self.asked if not url.startswith(("file:", "data:", "blob:", "about:"))]

    def troubles(self) -> list[str]:
        """Errors and warnings of the console, uncaught exceptions, what the policy refused."""
        return self.said

    def axe(self, rules: Sequence[str] = ()) -> list[str]:
        """What axe-core finds, by all of its rules or some: rule, place and message."""
        from axe_playwright_python.sync_playwright import Axe

        options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
        found = Axe().run(self.page, options=options).response["violations"]
        return [
            f"{rule['id']}: {node['target']} {node.get('failureSummary')}" for rule in found for node in rule["nodes"]
        ]

    def downloads(self, selector: str, folder: Path) -> list[Path]:
        """Click everything that a selector finds; the files that were saved."""
        saved = []
        for button in self.page.query_selector_all(selector):
            with self.page.expect_download() as waiting:
                button.click()
            saved.append(folder / waiting.value.suggested_filename)
            waiting.value.save_as(saved[-1])
        return saved

    def close(self) -> None:
        self.browser.close()
        self.driver.stop()
