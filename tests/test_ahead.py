"""What is read and loaded before torch is imported: the import finds all that it would find without."""

from __future__ import annotations

import importlib
import subprocess
import sys
import threading
from importlib.metadata import version
from pathlib import Path

import pytest

from judge.processes import ahead, interpreter

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is loaded ahead")


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write a module that can be imported."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(name, text):
        path = tmp_path / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
        return path

    return write


@pytest.fixture
def finder(monkeypatch):
    found = ahead.Ahead()
    monkeypatch.setattr(sys, "meta_path", [found, *sys.meta_path])
    return found


def test_the_code_that_was_read_is_what_is_imported(written, finder):
    path = written("read_ahead", "VALUE = 'as it was read'")
    finder.read("read_ahead", str(path.parent))
    path.write_text("VALUE = 'as it was written since then'", encoding="utf-8")
    module = importlib.import_module("read_ahead")
    assert (module.VALUE, module.__file__) == ("as it was read", str(path))


def test_it_is_given_once(written, finder):
    path = written("read_ahead", "VALUE = 1")
    finder.read("read_ahead", str(path.parent))
    module = importlib.import_module("read_ahead")
    path.write_text("VALUE = 'another'", encoding="utf-8")
    assert importlib.reload(module).VALUE == "another"
    assert "another" in module.__spec__.loader.get_code("read_ahead").co_consts


def test_a_package_is_found_with_its_modules(tmp_path, finder, monkeypatch):
    package = tmp_path / "apart"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "part.py").write_text("from . import __path__ as where", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, folder in (("apart", tmp_path), ("apart.part", package)):
        finder.read(name, str(folder))
        monkeypatch.delitem(sys.modules, name, raising=False)
    assert list(importlib.import_module("apart.part").where) == [str(package)]


@pytest.mark.parametrize("text", ["def (", "\0"])
def test_a_file_that_python_can_t_read_is_left_to_the_import(written, finder, text):
    finder.read("broken", str(written("broken", text).parent))
    assert finder.find_spec("broken") is None
    finder.read("nowhere", "/nowhere")
    assert finder.find_spec("nowhere") is None


def test_reading_ends_when_the_library_is_there(written, monkeypatch, tmp_path):
    (tmp_path / "torch/lib").mkdir(parents=True)
    (tmp_path / "torch/lib/libtorch_cpu.so").touch()
    monkeypatch.setattr(sys, "platform", "linux")
    there = threading.Event()
    threads = []

    def load(folder):
        threads.append(threading.current_thread())
        assert there.wait(60)

    def modules(site):
        for name in ("first", "left_out", "second"):
            yield name, str(written(name, "").parent)
        there.set()
        threads[0].join()
        yield "third", str(written("third", "").parent)

    monkeypatch.setattr(ahead, "_load_libraries", load)
    monkeypatch.setattr(ahead, "_modules", modules)
    found = ahead.load([str(tmp_path)], ["left_out"])
    assert [name for name in ("first", "left_out", "second", "third") if found.find_spec(name)] == ["first", "second"]


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_nothing_happens_where_there_is_no_such_library(monkeypatch, tmp_path, platform):
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr(ahead, "_load_libraries", None)
    assert ahead.load([str(tmp_path)], []).find_spec("torch") is None


@on_linux
def test_the_library_of_the_kernels_is_loaded():
    folder = next(folder for folder in interpreter.site_folders() if Path(folder, "torch").is_dir())
    code = f"from judge.processes import ahead; ahead._load_libraries({folder + '/torch/lib/'!r}); print(open('/proc/self/maps').read())"
    root = Path(ahead.__file__).parents[2]
    loaded = subprocess.run([sys.executable, "-c", code], cwd=root, check=True, stdout=subprocess.PIPE, text=True)
    assert "libtorch_cpu.so" in loaded.stdout


@pytest.mark.skipif(not version("torch").startswith("2.13."), reason="another torch has other modules")
def test_the_folders_are_there():
    site = interpreter.site_folders()
    assert {place.replace("/", ".") for place in ahead._FOLDERS} <= {name for name, _ in ahead._modules(site)}
