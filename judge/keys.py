"""Single keys from a terminal, without Enter, while a block runs; afterwards the terminal is as it was.

Only where there is a POSIX terminal: elsewhere there are no keys, and Ctrl-C ends the command.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import sys
import threading
from collections.abc import Callable, Iterator

_SEQUENCE = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]?|O.?)?")  # an arrow or a function key


@contextlib.contextmanager
def reading(pressed: Callable[[str], None]) -> Iterator[bool]:
    """Call ``pressed`` with every key, from a thread; yields whether there are keys here."""
    if sys.platform == "win32" or not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield False
        return
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    stop, stopping = os.pipe()
    thread = threading.Thread(target=_read, args=(terminal, stop, pressed), daemon=True)
    try:
        tty.setcbreak(terminal, termios.TCSANOW)  # Ctrl-C is still a signal
        thread.start()
        yield True
    finally:
        os.close(stopping)
        thread.join()
        os.close(stop)
        with contextlib.suppress(termios.error):  # the terminal has gone
            termios.tcsetattr(terminal, termios.TCSANOW, before)


def _read(terminal: int, stop: int, pressed: Callable[[str], None]) -> None:
    while True:
        ready, _, _ = select.select([terminal, stop], [], [])
        if stop in ready:
            return
        try:
            text = os.read(terminal, 64).decode(errors="replace")
        except OSError:  # how a terminal that has gone reads
            return
        if not text:
            return
        for key in _SEQUENCE.sub("", text):
            pressed(key)
