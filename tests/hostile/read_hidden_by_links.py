# tries: give the reference another name, by symbolic and hard links and by renaming, where it may be read
# expect: wrong answer
# needs: kernel
import os, tempfile

FOLDERS = ["/tmp", "/dev/shm", "/var/tmp", ".", "@USER_FOLDER@", os.path.dirname(os.__file__), tempfile.gettempdir()]


def solve(x, y):
    for folder in FOLDERS:
        other = f"{folder}/judge-hostile-link"
        for way in (os.symlink, os.link, os.rename, os.replace):
            try:
                way("@HIDDEN_FILE@", other)
                print("LEAK made", other)
                print("LEAK", open(other).read(20))
            except OSError:
                pass
    return x @ y
