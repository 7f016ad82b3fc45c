"""Counters that give the same number on every computer: multiplications done, and numbers alive at once.

seconds() is the exception: what it returns depends on the computer and on what else runs there.
"""

import math
import time
from collections.abc import Callable, Sequence

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode


def count_products(call: Callable) -> int:
    """Multiplications (each with an addition) in the matrix products that call() does."""
    with FlopCounterMode(display=False) as counter, torch.no_grad():
        call()
    return counter.get_total_flops() // 2


def peak_numbers(call: Callable) -> int:
    """The largest number of elements that new tensors hold at the same time while call() runs, its result included.

    Tensors that existed before are not counted; views are counted once.
    """
    with _Alive() as alive, torch.no_grad():
        call()
    return alive.peak


class _Alive(TorchDispatchMode):
    """Looks at the result of every operation and keeps a weak reference to its storage, with the number of its elements.

    Storages that came in from outside count 0. While a weak reference is held, no other storage gets the same address.
    """

    def __init__(self):
        super().__init__()
        self.known, self.peak = {}, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.meet((args, kwargs), outside=True)
        result = func(*args, **(kwargs or {}))
        self.known = {key: (ref, size) for key, (ref, size) in self.known.items() if not ref.expired()}
        self.meet(result, outside=False)
        self.peak = max(self.peak, sum(size for _, size in self.known.values()))
        return result

    def meet(self, tree, outside):
        """Take note of all tensors of a tree that are not known yet."""
        for x in torch.utils._pytree.tree_leaves(tree):
            if isinstance(x, torch.Tensor):
                storage = x.untyped_storage()
                if storage._cdata not in self.known:
                    size = 0 if outside else storage.nbytes() // x.element_size()
                    self.known[storage._cdata] = StorageWeakRef(storage), size


def saved_numbers(call: Callable) -> int:
    """Numbers that call() keeps for its backward pass: the sum over tensors handed to autograd for safe-keeping."""
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda x: kept.append(x.numel()) or x, lambda x: x):
        result = call()
    del result
    return sum(kept)


def seconds(call: Callable, turns: int = 3) -> float:
    """The shortest of several calls, in processor time of this process, so that other programs count little."""
    spent = []
    with torch.no_grad():
        for _ in range(turns):
            start = time.process_time()
            call()
            spent.append(time.process_time() - start)
    return min(spent)


def exponent(lengths: Sequence[float], values: Sequence[float]) -> float:
    """The power p for which values grow as lengths**p: the least-squares slope between their logarithms."""
    x, y = ([math.log(value) for value in one] for one in (lengths, values))
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y)) / sum((a - mean_x) ** 2 for a in x)
