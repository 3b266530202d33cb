"""A scratch folder goes, whatever is in it."""

from __future__ import annotations

import os

import pytest

from judge.processes.leftovers import remove


def test_a_folder_deeper_than_python_recurses_and_longer_than_a_path_may_be_is_removed(tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    here = os.open(folder, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("deeper", dir_fd=here)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
        below = os.open("deeper", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    remove(str(folder))
    assert not folder.exists()


def test_folders_that_are_closed_to_us_are_removed(tmp_path):
    folder = tmp_path / "scratch"
    for place in (folder / "a" / "b", folder / "c"):
        place.mkdir(parents=True)
        (place / "file").write_text("x")
        place.chmod(0)
    (folder / "a").chmod(0o100)
    remove(str(folder))
    assert not folder.exists()


@pytest.mark.skipif(os.name != "posix", reason="links take a right there")
def test_what_a_link_leads_to_stays(tmp_path):
    folder, kept = tmp_path / "scratch", tmp_path / "kept"
    folder.mkdir()
    kept.mkdir(mode=0o500)
    (folder / "link").symlink_to(kept)
    (folder / "loop").symlink_to("loop")
    remove(str(folder))
    assert not folder.exists()
    assert kept.stat().st_mode & 0o777 == 0o500


def test_a_folder_that_is_gone_is_no_error(tmp_path):
    remove(str(tmp_path / "nothing"))
