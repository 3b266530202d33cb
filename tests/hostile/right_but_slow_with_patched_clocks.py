# tries: give the right answer after 30 s, with every clock of the process at zero
# expect: time limit
import time

import torch

sleep = time.sleep
time.time = time.monotonic = time.perf_counter = time.process_time = time.sleep = lambda *_: 0.0


def solve(x, y):
    sleep(30)
    return torch.softmax(x @ y, -1)
