# tries: watch the user's and the hidden folder (inotify, fanotify, leases), which tells when others read them
# expect: wrong answer
# needs: kernel
import ctypes, fcntl, os


def solve(x, y):
    libc = ctypes.CDLL(None)
    watch = libc.inotify_init1(0)
    for folder in (b"@HIDDEN_FOLDER@", b"@USER_FOLDER@", b"/tmp"):
        if watch >= 0 and libc.inotify_add_watch(watch, folder, 0xFFF) >= 0:
            print("LEAK watches", folder)
    if libc.fanotify_init(0, os.O_RDONLY) >= 0:
        print("LEAK fanotify")
    for number in (fcntl.F_SETLEASE, fcntl.F_NOTIFY):
        try:
            fcntl.fcntl(os.open(os.__file__, os.O_RDONLY), number, fcntl.F_RDLCK)
            print("LEAK fcntl", number)
        except OSError:
            pass
    return x @ y
