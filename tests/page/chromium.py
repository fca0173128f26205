"""A headless Chromium, driven over the DevTools protocol with nothing but the standard library."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import secrets
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
    "--hide-scrollbars",
)


def find() -> str | None:
    """The browser of this machine, if it has one."""
    return next((found for found in map(shutil.which, NAMES) if found), None)


class Connection:
    """The little of the WebSocket protocol that DevTools needs: text, masked on the way out."""

    def __init__(self, address: str) -> None:
        host, _, path = address.removeprefix("ws://").partition("/")
        name, _, port = host.partition(":")
        self.socket = socket.create_connection((name, int(port)), timeout=60)
        key = base64.b64encode(secrets.token_bytes(16)).decode()
        self.socket.sendall(
            f"GET /{path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.socket.recv(1)
        if b" 101 " not in answer:
            raise ConnectionError(answer.decode())

    def send(self, text: str) -> None:
        data, mask = text.encode(), secrets.token_bytes(4)
        length = len(data)
        if length < 126:
            head = struct.pack("!BB", 0x81, 0x80 | length)
        elif length < 1 << 16:
            head = struct.pack("!BBH", 0x81, 0x80 | 126, length)
        else:
            head = struct.pack("!BBQ", 0x81, 0x80 | 127, length)
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
        self.socket.sendall(head + mask + masked)

    def receive(self) -> str:
        data = b""
        while True:
            first, second = self._read(2)
            length = second & 0x7F
            if length == 126:
                (length,) = struct.unpack("!H", self._read(2))
            elif length == 127:
                (length,) = struct.unpack("!Q", self._read(8))
            part = self._read(length)
            if first & 0x0F in (0, 1):
                data += part
                if first & 0x80:
                    return data.decode()

    def _read(self, number: int) -> bytes:
        parts = bytearray()
        while len(parts) < number:
            part = self.socket.recv(number - len(parts))
            if not part:
                raise ConnectionError("the browser closed the connection")
            parts += part
        return bytes(parts)


class Browser:
    """One page in one browser; notes every request, console message and error."""

    def __init__(self, downloads: Path | None = None) -> None:
        program = find()
        if program is None:
            raise FileNotFoundError("no Chromium")
        self.profile = tempfile.mkdtemp(prefix="dpbench-chromium-")
        self.process = subprocess.Popen(
            [program, *FLAGS, f"--user-data-dir={self.profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.events: list[dict[str, Any]] = []
        self.number = 0
        self.connection = Connection(self._address())
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)
        if downloads is not None:
            self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))

    def _address(self) -> str:
        port_file = Path(self.profile) / "DevToolsActivePort"
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            if port_file.is_file() and port_file.read_text().count("\n"):
                port = port_file.read_text().split("\n", maxsplit=1)[0]
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                    pages = [each for each in json.load(answer) if each["type"] == "page"]
                if pages:
                    return str(pages[0]["webSocketDebuggerUrl"])
            time.sleep(0.05)
        raise TimeoutError("Chromium did not start")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        self.number += 1
        wanted = self.number
        self.connection.send(json.dumps({"id": wanted, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.connection.receive())
            if message.get("id") == wanted:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return dict(message["result"])
            self.events.append(message)

    def run(self, script: str) -> Any:
        """The value of an expression in the page, awaited if it is a promise."""
        answer = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def open(self, path: Path, address: str = "", width: int = 1400, height: int = 900, dark: bool = False) -> None:
        """Open a file and wait until it is drawn."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = "dark" if dark else "light"
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=path.resolve().as_uri() + address)
        self.wait("document.body && document.body.dataset.ready === 'yes'")

    def wait(self, condition: str, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not self.run(condition):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never true: {condition}; {self.troubles()}")
            time.sleep(0.03)

    def choose(self, selector: str, value: str) -> None:
        """Choose an option of a list, as a user does."""
        found = json.dumps(selector)
        self.run(
            f"(() => {{ const box = document.querySelector({found}); box.value = {json.dumps(value)};"
            f" box.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()"
        )

    def mouse(self, kind: str, x: float, y: float) -> None:
        pressed = {"mousePressed": 1, "mouseMoved": 1, "mouseReleased": 0}[kind]
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=pressed, clickCount=1)

    def key(self, name: str) -> None:
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name)

    def requests(self) -> list[str]:
        """Addresses that were asked for, beside the file itself and what lies inside it."""
        sent = [
            each["params"]["request"]["url"] for each in self.events if each["method"] == "Network.requestWillBeSent"
        ]
        return [url for url in sent if not url.startswith(("file:", "data:", "blob:", "about:"))]

    def troubles(self) -> list[str]:
        """Errors and warnings of the console, uncaught exceptions, what the policy refused."""
        found = []
        for each in self.events:
            told = each["params"]
            if each["method"] == "Runtime.exceptionThrown":
                found.append(told["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            elif each["method"] == "Runtime.consoleAPICalled" and told["type"] in ("error", "warning", "assert"):
                found.append(str(told["args"]))
            elif each["method"] == "Log.entryAdded" and told["entry"]["level"] in ("error", "warning"):
                found.append(told["entry"]["text"])
        return found

    def screenshot(self, path: Path, whole: bool = False) -> None:
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))

    def close(self) -> None:
        with contextlib.suppress(ConnectionError, OSError):
            self.call("Browser.close")
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.kill(self.process.pid, 9)
            self.process.wait()
        self.connection.socket.close()
        shutil.rmtree(self.profile, ignore_errors=True)
