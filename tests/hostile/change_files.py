# tries: change, empty, rename, remove and make files in the user's folder, in its own and in temporary ones
# expect: wrong answer
# needs: kernel
import os, pathlib, shutil, tempfile

FILE, FOLDER = "@USER_FILE@", "@USER_FOLDER@"
FOLDERS = [
    FOLDER,
    "/tmp",
    "/dev/shm",
    "/var/tmp",
    ".",
    os.path.dirname(os.__file__),
    "/proc/self",
    "/run",
    os.environ["HOME"],
]
WAYS = [
    lambda: open(FILE, "w"), lambda: open(FILE, "a"), lambda: open(FILE, "r+"), lambda: os.truncate(FILE, 0),
    lambda: os.rename(FILE, FILE + ".judge-hostile"), lambda: os.unlink(FILE), lambda: shutil.rmtree(FOLDER),
    lambda: os.rmdir(f"{FOLDER}/empty"), lambda: os.open(FILE, os.O_RDONLY | os.O_TRUNC),
    lambda: tempfile.TemporaryFile(), lambda: tempfile.mkdtemp(), lambda: tempfile.mkdtemp(dir="/tmp"),
]  # fmt: skip
for folder in FOLDERS:
    new = f"{folder}/judge-hostile"
    WAYS += [
        lambda new=new: open(new, "x"), lambda new=new: os.mkdir(new), lambda new=new: os.mkfifo(new),
        lambda new=new: os.mknod(new, 0o140600), lambda new=new: os.symlink("/", new),
        lambda new=new: os.link(FILE, new), lambda folder=folder: os.open(folder, os.O_TMPFILE | os.O_RDWR),
        lambda new=new: pathlib.Path(new).touch(),
    ]  # fmt: skip


def solve(x, y):
    for number, way in enumerate(WAYS):
        try:
            way()
        except OSError:
            continue
        print("LEAK way", number)
    return x @ y
