# tries: find copies of the answer: git objects, compiled files, caches of pip and uv, build folders, editor backups
# expect: wrong answer
# needs: kernel
import glob, os

PLACES = [
    "@REPOSITORY@/.git/HEAD", "@REPOSITORY@/.git/index", "@REPOSITORY@/.git/objects/**", "@REPOSITORY@/**/__pycache__/*",
    "@REPOSITORY@/judge/*.py", "@REPOSITORY@/reference/*.py", "@REPOSITORY@/problems/*/*", "@REPOSITORY@/build/**",
    "@REPOSITORY@/*.egg-info/*", "@HIDDEN_FOLDER@/*", "@HIDDEN_FOLDER@/rewrites/*", "@HIDDEN_FILE@", "@HIDDEN_FILE@~",
    "@HOME@/.cache/**", "@HOME@/.local/**", "@HOME@/.*", "/tmp/*", "/var/tmp/*", "/dev/shm/*", "/home/*", "/root/*",
]  # fmt: skip


def solve(x, y):
    for place in PLACES:
        for path in [place, *glob.glob(place)]:
            try:
                print("LEAK", path, os.listdir(path) if os.path.isdir(path) else open(path, "rb").read(8))
            except OSError:
                pass
    return x @ y
