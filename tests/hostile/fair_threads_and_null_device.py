# tries: not an attack: two threads, asyncio, the null device, clocks and temporary names
# expect: accepted
import asyncio, contextlib, getpass, logging, os, random, subprocess, sys, tempfile, time, warnings
from concurrent.futures import ThreadPoolExecutor

import numpy
import torch

torch.set_num_threads(2)
logging.basicConfig(level=logging.INFO)


async def quiet():
    await asyncio.sleep(0)


def solve(x, y):
    started = time.perf_counter(), time.time(), os.times(), time.thread_time()
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        print("quiet")
    asyncio.run(quiet())
    random.random(), numpy.random.rand(3), getpass.getuser(), os.cpu_count(), os.getcwd(), os.path.exists("/tmp")
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(lambda row: row @ y, x))
    logging.info("%d rows", len(rows))
    return torch.softmax(torch.stack(rows), -1)
