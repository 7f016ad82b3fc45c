"""What attention to n tokens costs, in counts and in units one can picture, and a cost model of a ring (chapter 7).

Plain arithmetic, no torch: one head of width d, forward pass. "products" are multiplications with an addition;
"numbers" are what is alive at once besides q, k, v and the output.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

METHODS = ("dense", "tiled", "window", "sinks", "linear", "ring")


def products(method: str, n: float, d: int, *, window: int = 256, sinks: int = 4, ranks: int = 1) -> float:
    """Multiplications of one forward pass of one head on each worker, without a mask of the future for full methods.

    dense, tiled: 2 n^2 d (scores and mixing). window, sinks: 2 n min(n, window + sinks) d. linear: 2 n d^2 (one
    outer product into the state and one product out of it). ring: those of dense, divided by the ranks.
    Raises ValueError for a method not in METHODS.
    """
    seen = {"window": window, "sinks": window + sinks}
    if method == "linear":
        return 2 * n * d * d
    if method in seen:
        return 2 * n * min(n, seen[method]) * d
    if method in ("dense", "tiled", "ring"):
        return 2 * n * n * d / (ranks if method == "ring" else 1)
    raise ValueError(f"method is {method!r}; expected one of {', '.join(METHODS)}")


def numbers(method: str, n: float, d: int, *, window: int = 256, sinks: int = 4, block: int = 128,
            ranks: int = 1) -> float:
    """Numbers alive at once on each worker besides its q, k, v and output.

    dense: n^2 weights. tiled: a tile, and one log-sum a row. window, sinks: the scores of one block of queries.
    linear: a state of d (d + 1). ring: a tile, the log-sums, and one block of keys and values coming and one going.
    """
    tile = min(n, block)
    if method == "dense":
        return n * n
    if method == "tiled":
        return tile * tile + n
    if method in ("window", "sinks"):
        return tile * min(n, window + tile + (sinks if method == "sinks" else 0))
    if method == "linear":
        return d * (d + 1)
    if method == "ring":
        return tile * tile + n / ranks + 4 * d * n / ranks
    raise ValueError(f"method is {method!r}; expected one of {', '.join(METHODS)}")


def breakeven(d_model: int, feed_forward: int = 4) -> int:
    """The length at which scores and mixing cost as much as the rest of a block: (8 + 4 feed_forward) d^2 = 4 n d.

    Both sides count two operations for a product; a block has four projections and two layers of feed_forward * d.
    """
    return (8 + 4 * feed_forward) * d_model // 4


# -- a ring, from measurements ------------------------------------------------------------

@dataclass(frozen=True)
class RingCosts:
    """Seconds of one ring: per product, per byte sent, per hop. From fit_ring, or from a data sheet."""

    per_product: float
    per_byte: float
    per_hop: float

    def seconds(self, n: float, d: int, ranks: int, *, cores: int | None = None, bytes_per_number: int = 4) -> float:
        """Time of one forward pass: the work of the busiest core plus what is sent. cores None: one core a rank."""
        return sum(cost * count for cost, count in zip(
            (self.per_product, self.per_byte, self.per_hop), _counts(n, d, ranks, cores or ranks, bytes_per_number)))


def _counts(n, d, ranks, cores, bytes_per_number):
    """Products on the busiest core, bytes a rank sends, and hops."""
    turns = ranks / min(ranks, cores)  # ranks that share a core take turns
    return products("ring", n, d, ranks=ranks) * turns, bytes_moved(n, d, ranks, bytes_per_number), ranks - 1


def bytes_moved(n: float, d: int, ranks: int, bytes_per_number: int = 4) -> float:
    """Bytes each rank sends in one forward pass: its block of keys and values and each one it passes on but the last."""
    return (ranks - 1) * 2 * n / ranks * d * bytes_per_number


def fit_ring(measured: Sequence[tuple[float, int, int, float]], cores: int, bytes_per_number: int = 4) -> RingCosts:
    """Least squares for (n, d, ranks, seconds), relative errors, no negative cost: the best of all subsets of costs.

    Raises ValueError without a measurement.
    """
    if not measured:
        raise ValueError("measured is empty; expected at least one (n, d, ranks, seconds)")
    rows = [[c / seconds for c in _counts(n, d, ranks, cores, bytes_per_number)] for n, d, ranks, seconds in measured]
    best = None
    for size in (1, 2, 3):
        for chosen in combinations(range(3), size):
            found = _solve([[row[i] for i in chosen] for row in rows])
            if found is None or min(found) < 0:
                continue
            costs = [dict(zip(chosen, found)).get(i, 0.0) for i in range(3)]
            error = sum((sum(a * b for a, b in zip(row, costs)) - 1) ** 2 for row in rows)
            if best is None or error < best[0] - 1e-12:
                best = error, costs
    return RingCosts(*best[1])


def _solve(rows):
    """x with the least |rows x - 1|, by the normal equations; None if they have no single solution."""
    size = len(rows[0])
    largest = [max(abs(row[i]) for row in rows) for i in range(size)]
    if not min(largest):
        return None
    rows = [[x / s for x, s in zip(row, largest)] for row in rows]
    m = [[sum(row[i] * row[j] for row in rows) for j in range(size)] + [sum(row[i] for row in rows)] for i in range(size)]
    for i in range(size):
        pivot = max(range(i, size), key=lambda r: abs(m[r][i]))
        m[i], m[pivot] = m[pivot], m[i]
        if abs(m[i][i]) < 1e-12:
            return None
        m[i] = [x / m[i][i] for x in m[i]]
        for r in range(size):
            if r != i:
                m[r] = [x - m[r][i] * y for x, y in zip(m[r], m[i])]
    return [m[i][size] / largest[i] for i in range(size)]


# -- units one can picture ----------------------------------------------------------------

_TIMES = ((1e-6, 1e-9, "ns"), (1e-3, 1e-6, "µs"), (1.0, 1e-3, "ms"), (60.0, 1.0, "s"), (3600.0, 60.0, "min"),
          (86400.0, 3600.0, "h"), (2 * 31557600.0, 86400.0, "days"), (float("inf"), 31557600.0, "years"))
_SIZES = ((1e3, 1.0, "B"), (1e6, 1e3, "kB"), (1e9, 1e6, "MB"), (1e12, 1e9, "GB"), (1e15, 1e12, "TB"),
          (float("inf"), 1e15, "PB"))


def in_words(value: float, kind: str) -> str:
    """Seconds ("time") or bytes ("size") in the unit that suits them: 2.00 TB, 31.7 years."""
    for below, unit, name in {"time": _TIMES, "size": _SIZES}[kind]:
        if value < below:
            return f"{value / unit:.3g} {name}"
    raise ValueError(f"value is {value!r}; expected a finite number")
