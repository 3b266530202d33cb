"""A headless Chromium, where one is installed, spoken to through its debugging pipe: no port, no further package."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAMES = ("chromium-headless-shell", "chrome-headless-shell", "chromium", "chromium-browser", "google-chrome")
PROGRAM = next(filter(None, map(shutil.which, NAMES)), None) if os.name == "posix" else None
_ALONE = ("--headless", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-dev-shm-usage")

_START = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(end), fcntl.F_DUPFD, 10) for end in sys.argv[1:3]]
for end, wanted in zip(ends, (3, 4)):  # where the browser reads commands, and writes answers
    os.dup2(end, wanted)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """One page; ``complaints`` are what its console and its log said since it was opened."""

    def __init__(self, to_browser: int, from_browser: int):
        self._to, self._from = to_browser, from_browser
        self._buffer, self._number, self._session = b"", 0, None
        self.complaints: list[str] = []
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self._ask(f"{domain}.enable")

    def open(self, page: Path, *, width: int, height: int = 900, dark: bool = False, media: str = "screen") -> None:
        """Load a file at a width in CSS pixels, with scroll bars that take no room, and wait until it has loaded."""
        self.complaints.clear()
        self._ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=True)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", media=media, features=[scheme])
        self._ask("Page.navigate", url=page.as_uri())
        self._await("Page.loadEventFired")

    def value(self, expression: str) -> Any:
        """Evaluate JavaScript beside the page."""
        result = self._ask("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def picture(self) -> bytes:
        """The whole page as PNG."""
        return base64.b64decode(self._ask("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    def close(self) -> None:
        """Let the browser end by itself."""
        self._session = None
        self._ask("Browser.close")

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]

    def _await(self, event: str) -> None:
        while self._next().get("method") != event:
            pass

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            read = os.read(self._from, 1 << 16)
            assert read, "the browser has ended"
            self._buffer += read
        text, _, self._buffer = self._buffer.partition(b"\0")
        message = json.loads(text)
        if message.get("method") in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(json.dumps(message["params"]))
        return message


@contextlib.contextmanager
def browser(folder: Path) -> Iterator[Browser]:
    """Start the browser with a profile in ``folder``; it ends with the block."""
    assert PROGRAM
    read, to_browser = os.pipe()
    from_browser, write = os.pipe()
    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()  # Chromium's own does not work for root
    command = [PROGRAM, *_ALONE, *sandbox, f"--user-data-dir={folder}", "--remote-debugging-pipe"]
    start = [sys.executable, "-c", _START, str(read), str(write), *command]
    process = subprocess.Popen(start, pass_fds=(read, write), stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    os.close(read)
    os.close(write)
    try:
        opened = Browser(to_browser, from_browser)
        yield opened
        opened.close()
        process.wait(timeout=30)  # its children too have left the folder then
    finally:
        process.kill()
        process.wait()
        os.close(to_browser)
        os.close(from_browser)
