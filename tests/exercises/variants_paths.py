"""path_length: right variants, and wrong solutions with a fragment of the message that each must get."""

import math

import numpy as np
import torch
from solutions_routing import solution


def path(itself=0, **kinds):
    """A solution with some kinds replaced: kinds map (distance, window) to an answer; backward ones end in _back."""
    def path_length(kind, source, target, window):
        distance = target - source
        if distance == 0:
            return itself
        forward = {"chain": lambda d, w: d, "all": lambda d, w: 1, "causal": lambda d, w: 1,
                   "window": lambda d, w: -(-d // (w - 1))}
        backward = {"chain": lambda d, w: None, "all": lambda d, w: 1, "causal": lambda d, w: None,
                    "window": lambda d, w: None}
        if distance > 0:
            return kinds.get(kind, forward[kind])(distance, window)
        return kinds.get(f"{kind}_back", backward[kind])(distance, window)
    return path_length


def by_search(kind, source, target, window):
    """Breadth first over an explicit graph, nothing known about formulas."""
    size = max(source, target) + 1
    sees = {"chain": lambda i, j: i - j in (0, 1), "all": lambda i, j: True, "causal": lambda i, j: j <= i,
            "window": lambda i, j: 0 <= i - j < window}[kind]
    reached = {source}
    for hops in range(size + 1):
        if target in reached:
            return hops
        reached |= {i for i in range(size) if any(sees(i, j) for j in reached)}
    return math.inf


RIGHT = {
    "solution": solution("path_length"),
    "search, infinity": by_search,
    "numpy number": lambda *args: np.float64(by_search(*args)),
    "numpy array": lambda *args: np.array([by_search(*args)]),
    "tensor": lambda *args: torch.tensor(by_search(*args), dtype=torch.float64, requires_grad=True),
    "float": lambda *args: None if by_search(*args) == math.inf else float(by_search(*args)),
    "list": lambda *args: [by_search(*args)],
}

WRONG = {
    "words": (path(chain=lambda d, w: d + 1), "words were counted"),
    "words between": (path(chain=lambda d, w: d - 1), "words in between"),
    "chain 1": (path(chain=lambda d, w: 1), "one hop for a chain"),
    "all by distance": (path(all=lambda d, w: d), "distance counted for attention"),
    "causal by distance": (path(causal=lambda d, w: d), "distance counted for attention"),
    "ceil by width": (path(window=lambda d, w: math.ceil(d / w)), "moves by its whole width"),
    "floor by width": (path(window=lambda d, w: d // w), "moves by its whole width"),
    "rounded down": (path(window=lambda d, w: d // (w - 1)), "a part of a hop"),
    "fraction": (path(window=lambda d, w: d / (w - 1)), "a part of a hop"),
    "one added": (path(window=lambda d, w: d // (w - 1) + 1), "rounded down and one added"),
    "window hides": (path(window=lambda d, w: None if d >= w else 1), "hides what lies outside"),
    "window by distance": (path(window=lambda d, w: d), "distance counted for a window"),
    "window 1": (path(window=lambda d, w: 1), "one hop for a window"),
    "way back": (path(chain_back=lambda d, w: -d), "a way back from the future"),
    "causal way back": (path(causal_back=lambda d, w: 1), "a way back from the future"),
    "negative": (path(chain_back=lambda d, w: d), "a negative length"),
    "zero for none": (path(causal_back=lambda d, w: 0), "0 or -1 for no way"),
    "-1 for none": (path(chain_back=lambda d, w: -1), "0 or -1 for no way"),
    "none back at all": (path(all_back=lambda d, w: None), "although nothing is masked"),
    "to itself 1": (path(itself=1), "a hop to itself"),
    "to itself none": (path(itself=None), "no way to itself"),
    "always infinity": (lambda *args: math.inf, "there is a way"),
    "constant": (lambda *args: 7, "The answer is wrong"),
    "two numbers": (lambda *args: [1, 2], "2 numbers"),
    "text": (lambda *args: "one", "text in place of numbers"),
    "NaN": (lambda *args: math.nan, "NaN"),
}
