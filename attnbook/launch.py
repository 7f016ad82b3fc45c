"""Several processes from a notebook: start ranks, wait for their answers, and leave no process behind (chapter 7)."""

import os
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import contextmanager
from datetime import timedelta
from multiprocessing.connection import wait as wait_for
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from attnbook import _checks

LIMIT = 30.0  # seconds for every message between ranks, and for the whole of what they run unless told otherwise
START = 180.0  # seconds for the new processes to load torch, which on a busy computer takes its time


class RankError(RuntimeError):
    """A rank failed or did not answer in time; the message names it and holds its traceback."""


def run_ranks(function: Callable, world: int, *args, limit: float = LIMIT) -> list:
    """function(*args) on each of `world` new processes that can talk to each other; what each returned, by rank.

    function: importable by name (not defined in a notebook), since the processes begin with an empty interpreter
    ("spawn"); what it returns must be picklable and hold no tensors. One thread a rank; gloo; rendezvous by a file.
    If a rank fails, or the limit of seconds passes once all have started, all ranks are ended before RankError is
    raised.
    """
    _checks.whole_number("world", world, minimum=1)
    context = mp.get_context("spawn")
    with tempfile.TemporaryDirectory(prefix="attnbook-ring-") as folder:
        pipes, ranks = [], []
        try:
            for rank in range(world):
                ours, theirs = context.Pipe()
                process = context.Process(target=_rank, daemon=True,
                                          args=(theirs, rank, world, str(Path(folder) / "meet"), limit, function, args))
                process.start()
                theirs.close()  # the child has its own: ours then reports its end
                pipes.append(ours)
                ranks.append(process)
            _answers(pipes, START)  # each says that it is there
            for pipe in pipes:
                pipe.send("begin")
            return _answers(pipes, limit)
        finally:
            _end(ranks)
            for pipe in pipes:
                pipe.close()


def _answers(pipes, limit):
    """One answer from each rank, in any order, within the limit."""
    found, until = {}, time.monotonic() + limit
    while len(found) < len(pipes):
        waiting = [rank for rank in range(len(pipes)) if rank not in found]
        ready = wait_for([pipes[rank] for rank in waiting], max(0.0, until - time.monotonic()))
        if not ready:
            raise RankError(f"no answer from ranks {waiting} within {limit:g} s; all processes were ended")
        for pipe in ready:
            rank = pipes.index(pipe)
            try:
                good, found[rank] = pipe.recv()
            except EOFError:
                raise RankError(f"rank {rank} ended without an answer; all processes were ended") from None
            if not good:
                raise RankError(f"rank {rank} failed; all processes were ended\n{found[rank]}")
    return [found[rank] for rank in range(len(pipes))]


def _end(ranks):
    """Give finished ranks a moment to leave, then end those that stay."""
    for process in ranks:
        process.join(0.5 if process.exitcode is None else 0)
    for process in ranks:
        if process.is_alive():
            process.terminate()
    for process in ranks:
        process.join(2)
        if process.is_alive():
            process.kill()
            process.join()
        process.close()


def _rank(pipe, rank, world, meeting, limit, function, args):
    """What each new process runs."""
    torch.set_num_threads(1)
    pipe.send((True, "here"))
    pipe.recv()
    try:
        with joined(limit, init_method=f"file://{meeting}", rank=rank, world_size=world):
            answer = True, function(*args)
            if world > 1:
                dist.barrier()  # nobody closes its sockets while another still reads
    except BaseException:
        answer = False, traceback.format_exc()
    pipe.send(answer)
    pipe.close()


def cores_here() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def joined(limit: float = LIMIT, **how):
    """Be a member of a gloo group for the length of a with block; without arguments as torchrun's variables say."""
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo" if Path("/sys/class/net/lo").exists() else "lo0")
    dist.init_process_group("gloo", timeout=timedelta(seconds=limit), **how)
    try:
        yield
    finally:
        dist.destroy_process_group()
