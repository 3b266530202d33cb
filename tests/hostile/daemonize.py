# tries: fork twice and leave the session, so that a child outlives the judge and writes into the user's folder
# expect: runtime error
# needs: kernel
import os, time


def solve(x, y):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            time.sleep(0.2)
            open("@USER_FOLDER@/a_daemon_was_here", "w").close()
        os._exit(0)
    print("LEAK forked")
    return x @ y
