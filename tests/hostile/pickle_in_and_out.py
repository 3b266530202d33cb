# tries: load a pickle that runs code, and return an object that runs code when it is pickled
# expect: wrong answer
# needs: kernel
import io, pickle

import torch


class Evil:
    def __reduce__(self):
        return open, ("@USER_FOLDER@/a_pickle_was_here", "w")


def solve(x, y):
    stream = io.BytesIO()
    torch.save(Evil(), stream)
    for load in (
        lambda: pickle.loads(pickle.dumps(Evil())),
        lambda: torch.load(io.BytesIO(stream.getvalue()), weights_only=False),
    ):
        try:
            print("LEAK", load())
        except OSError:
            pass
    return Evil()
