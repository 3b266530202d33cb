# tries: call a closed function in a thread, where the modes that see it are not
# expect: closed function used
from concurrent.futures import ThreadPoolExecutor

import torch.nn.functional as F

KEPT = [F.log_softmax]


def solve(x, y):
    with ThreadPoolExecutor() as pool:
        return pool.submit(KEPT[0], x @ y, -1).result().exp()
