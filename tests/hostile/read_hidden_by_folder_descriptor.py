# tries: walk down to the reference by descriptors of folders, by O_PATH and after changing into its folder
# expect: wrong answer
# needs: kernel
import os


def by_descriptors():
    descriptor = os.open("/", os.O_PATH | os.O_DIRECTORY)
    for part in "@HIDDEN_FILE@".strip("/").split("/")[:-1]:
        descriptor = os.open(part, os.O_PATH | os.O_DIRECTORY, dir_fd=descriptor)
    return os.open("reference.py", os.O_RDONLY, dir_fd=descriptor)


def by_own_folder():
    os.chdir("@HIDDEN_FOLDER@")
    return os.open("reference.py", os.O_RDONLY)


def by_reopening():
    descriptor = os.open("@HIDDEN_FILE@", os.O_PATH)
    return os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY)


def by_root_descriptor():
    descriptor = os.open("/", os.O_RDONLY | os.O_DIRECTORY)
    os.fchdir(descriptor)
    return os.open("@HIDDEN_FILE@".lstrip("/"), os.O_RDONLY)


def solve(x, y):
    for way in (by_descriptors, by_own_folder, by_reopening, by_root_descriptor):
        try:
            print("LEAK", way.__name__, os.read(way(), 20))
        except OSError:
            pass
    return x @ y
