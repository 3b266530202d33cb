"""Where submissions live, and which file a command means."""

import os
import sys
from pathlib import Path

import pytest

from judge import workspace
from judge.errors import UsageError


@pytest.fixture
def here(tmp_path, monkeypatch):
    folder = tmp_path / "course" / "week" / "three"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def test_the_nearest_submissions_folder_upwards_is_found(here):
    (here.parents[1] / "submissions").mkdir()
    assert workspace.find(here) == here.parents[1] / "submissions"
    (here.parent / "submissions").mkdir()
    assert workspace.find(here) == here.parent / "submissions"


def test_a_file_of_that_name_is_no_submissions_folder(here):
    (here / "submissions").write_text("")
    assert workspace.find(here) is None
    with pytest.raises(UsageError, match="can't be made"):
        workspace.find_or_make(here)


def test_a_folder_is_made_where_there_is_none(here):
    assert workspace.find_or_make(here) == here / "submissions"
    assert (here / "submissions").is_dir()


@pytest.mark.parametrize("name", ["layer-norm.py", "layer_norm.py"])
def test_the_usual_file_is_found_in_both_spellings(here, name):
    (here.parent / "submissions").mkdir()
    (here.parent / "submissions" / name).write_text("")
    assert workspace.submission_file("layer-norm", None, here) == Path("..", "submissions", name)


def test_a_missing_usual_file_says_how_to_begin(here):
    with pytest.raises(UsageError, match=r"submissions.layer-norm\.py: there is no such file; judge start layer-norm"):
        workspace.submission_file("layer-norm", None, here)


def test_a_usual_file_that_is_spelled_otherwise_is_offered(here):
    (here / "submissions").mkdir()
    (here / "submissions" / "layernorm.py").write_text("")
    said = r"did you mean submissions.layernorm\.py\? Or else judge start layer-norm writes a stub"
    with pytest.raises(UsageError, match=said):
        workspace.submission_file("layer-norm", None, here)


def test_a_folder_and_a_suffix_in_common_make_no_names_alike(here):
    (here / "submissions").mkdir()
    (here / "submissions" / "rms.py").write_text("")
    (here / "submissions" / "zzy.py").mkdir()
    with pytest.raises(UsageError, match="there is no such file; name a file that is there"):
        workspace.submission_file("layer-norm", Path("submissions/zzz.py"), here)


def test_a_given_file_that_is_missing_is_looked_for_beside_it_and_among_the_submissions(here):
    (here / "answer.py").write_text("")
    with pytest.raises(UsageError, match=r"^anwser\.py: there is no such file; did you mean answer\.py\?$"):
        workspace.submission_file("layer-norm", Path("anwser.py"), here)
    (here.parent / "submissions").mkdir()
    (here.parent / "submissions" / "other_name.py").write_text("")
    with pytest.raises(UsageError, match=r"did you mean ...submissions.other_name\.py\?"):
        workspace.submission_file("layer-norm", Path("other_nam.py"), here)


def test_whatever_is_there_is_left_to_the_judging(here):
    (here / "folder.py").mkdir()
    (here / "loop.py").symlink_to("loop.py")
    for name in ("folder.py", "loop.py"):
        assert workspace.submission_file("layer-norm", Path(name), here) == Path(name)


def test_a_stub_is_written_once(here):
    started = workspace.write_stub("layer-norm", b"stub\n", here)
    assert started == workspace.Started(here / "submissions" / "layer-norm.py")
    assert started.path.read_bytes() == b"stub\n"
    started.path.write_text("mine\n")
    with pytest.raises(UsageError, match=r"layer-norm\.py is there already and stays as it is; --force"):
        workspace.write_stub("layer-norm", b"stub\n", here)
    assert started.path.read_text() == "mine\n"


def test_a_forced_stub_keeps_every_older_file(here):
    folder = here / "submissions"
    for content in ("first", "second", "third"):
        workspace.write_stub("layer-norm", content.encode(), here, force=True)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {
        "layer-norm.py": "third",
        "layer-norm.1.py": "first",
        "layer-norm.2.py": "second",
    }


def test_a_forced_stub_replaces_the_file_in_the_students_spelling(here):
    (here / "submissions").mkdir()
    (here / "submissions" / "layer_norm.py").write_text("mine")
    started = workspace.write_stub("layer-norm", b"stub", here, force=True)
    assert started.path.name == "layer_norm.py"
    assert started.kept is not None
    assert started.kept.read_text() == "mine"


def test_a_stub_never_replaces_a_folder(here):
    (here / "submissions" / "layer-norm.py").mkdir(parents=True)
    with pytest.raises(UsageError, match="can't be written"):
        workspace.write_stub("layer-norm", b"stub", here, force=True)
    assert os.listdir(here / "submissions") == ["layer-norm.py"]


def test_a_new_file_is_never_written_over_another(here):
    workspace.write_new(here / "case.py", "text")
    with pytest.raises(UsageError, match="is there already"):
        workspace.write_new(here / "case.py", "other")
    assert (here / "case.py").read_text() == "text"
    with pytest.raises(UsageError, match="can't be written"):
        workspace.write_new(here / "missing" / "case.py", "text")


@pytest.mark.parametrize("cases", [(), ("a", "b")])
def test_a_script_is_written_for_one_case_only(cases):
    assert workspace.only(("a",)) == "a"
    with pytest.raises(UsageError, match="--case NAME"):
        workspace.only(cases)


def test_a_place_to_write_to_is_found_through_links_and_nothing_is_left_there(here):
    (here / "pages").mkdir()
    (here / "pages" / "real.html").write_text("old")
    (here / "out.html").symlink_to(here / "pages" / "real.html")
    place = workspace.place(Path("out.html"), ".html")
    assert place == here / "pages" / "real.html"
    assert place.read_text() == "old"
    workspace.write_over(place, b"new")
    assert (here / "out.html").read_text() == "new"
    assert [path.name for path in (here / "pages").iterdir()] == ["real.html"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes in folders")
def test_a_place_is_refused_with_what_to_do(here):
    (here / "folder.html").mkdir()
    os.mkfifo(here / "pipe.html")
    for path, said in (
        ("folder.html", r"is a folder; name a file in it, such as folder.html.report.html"),
        ("answer.py", r"must end in .html"),
        ("noname", r"must end in .html"),
        ("pipe.html", r"no ordinary file; name another"),
        ("none/out.html", r"there is no folder none; make it first"),
    ):
        with pytest.raises(UsageError, match=said):
            workspace.place(Path(path), ".html")


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is where nobody can write")
def test_a_folder_that_can_not_be_written_to_is_refused():
    with pytest.raises(UsageError, match="name one in a folder that you may write to"):
        workspace.place(Path("/proc/out.html"), ".html")
