"""The parser is asked by one thread at a time."""

import gc
import inspect
import sys
import threading

import pytest

from judge import compare
from judge.parsing import parse


@pytest.fixture
def hasty_threads():
    """Threads that take turns, and collect garbage, as often as they can."""
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(1)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)


class Circle:
    """Garbage whose end runs Python code, which is where threads take turns."""

    def __init__(self):
        self.itself = self

    def __del__(self):
        for _ in range(3):
            pass


def test_many_threads_parse_at_once(hasty_threads):
    text, trees, faults = inspect.getsource(compare), [], []

    def work():
        for _ in range(15):
            Circle()
            try:
                trees.append(parse(text))
            except SystemError as exc:
                faults.append(exc)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    assert len(trees) == 60


def test_a_file_that_warns_is_parsed_in_silence(recwarn):
    parse("x = 'a' is 'b'")
    assert not list(recwarn)
