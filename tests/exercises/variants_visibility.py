"""rows_that_change: right variants, and wrong solutions with a fragment of the message that each must get."""

import math

import numpy as np
import torch
from solutions_routing import STARTERS, solution


def rows(reads=lambda mask, changed: mask[:, changed].any(1), keep=True, layers=lambda n: n):
    def rows_that_change(mask, word, n_layers):
        changed = torch.zeros(len(mask), dtype=torch.bool)
        changed[word] = True
        for _ in range(layers(n_layers)):
            new = reads(mask, changed)
            changed = new | changed if keep else new
        return changed
    return rows_that_change


def matrix_power(mask, word, n_layers):
    reach = np.linalg.matrix_power(np.asarray(mask).astype(int) + np.eye(len(mask), dtype=int), n_layers)
    return reach[:, word] > 0


def by_sets(mask, word, n_layers):
    found = {word}
    for _ in range(n_layers):
        found |= {i for i in range(len(mask)) for j in found if mask[i][j]}
    return [i in found for i in range(len(mask))]


RIGHT = {
    "solution": solution("rows_that_change"),
    "matrix power, numpy": matrix_power,
    "list of booleans": by_sets,
    "zeros and ones": lambda *args: rows()(*args).long(),
    "float64 with gradient": lambda *args: rows()(*args).double().requires_grad_(),
    "einsum": rows(lambda mask, changed: torch.einsum("ij,j->i", mask.float(), changed.float()) > 0),
    "extra batch axis": lambda *args: rows()(*args)[None],
}

WRONG = {
    "starter": (solution("rows_that_change", STARTERS), "row of the mask was read"),
    "starter, column repaired": (rows(keep=False), "word itself is left out"),
    "starter, stream repaired": (rows(lambda mask, changed: mask[changed].any(0)), "row of the mask was read"),
    "inverted": (rows(lambda mask, changed: (~mask)[:, changed].any(1)), "the other way round"),
    "one layer": (rows(layers=lambda n: 1), "one layer only"),
    "one layer more": (rows(layers=lambda n: n + 1), "one layer too many"),
    "all": (lambda m, *rest: torch.ones(len(m), dtype=torch.bool), "every row changes"),
    "itself": (rows(layers=lambda n: 0), "only the word itself"),
    "none": (lambda m, *rest: [False] * len(m), "nothing changes"),
    "numbers of the rows": (lambda *args: rows()(*args).nonzero().flatten(), "not word numbers"),
    "a square": (lambda m, *rest: m & m, "has shape (6, 6), expected (6,)"),
    "NaN": (lambda m, *rest: [math.nan] * len(m), "numbers other than 0 and 1"),
}
