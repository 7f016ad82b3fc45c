"""Implement: how often is the best of many heads as good by luck?

luck(moved, signs): moved (pairs, heads), above 0 is the right way; signs (draws, pairs), each +1 or -1 -> share of the draws in which
some head, with the signs of whole pairs flipped, has a mean at least as large as the best head has in truth.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, normal
from attnbook.exercises._report import report

PAIRS, HEADS, DRAWS = 9, 14, 200
TIED = 1e-4  # means nearer than this could be on either side in float32
APART = 0.03  # the right share and that of each mistake differ by more


def check_luck(fn) -> None:
    """Check luck(moved, signs) and print one message."""
    report(EXERCISE, fn)


def _luck(of_flipped=lambda means, best: means.amax(1), of_truth=lambda m: m.mean(0).amax(), less=False):
    """The share, with one step replaced."""
    def fn(moved, signs):
        means = signs.to(moved.dtype) @ moved / len(moved)  # (draws, heads)
        flipped, truth = of_flipped(means, moved.mean(0).argmax()), of_truth(moved)
        hits = flipped < truth if less else flipped >= truth - 1e-9
        return hits.to(moved.dtype).mean()
    return fn


right = _luck()
ONE_HEAD = _luck(lambda means, best: means[:, best])
MEAN = _luck(lambda means, best: means.mean(1))
MEAN_BOTH = _luck(lambda means, best: means.mean(1), lambda m: m.mean())
BOTH_SIDES = _luck(lambda means, best: means.abs().amax(1))
OTHER_SIDE = _luck(less=True)
COUNTED = _luck(lambda means, best: (means > 0).to(means.dtype).mean(1), lambda m: (m.mean(0) > 0).to(m.dtype).mean())


def _any_pair(moved, signs):
    flipped = (signs.to(moved.dtype)[:, :, None] * moved).amax((1, 2))
    return (flipped >= moved.mean(0).amax()).to(moved.dtype).mean()


def _all_heads(moved, signs):
    """Adds the chances of all heads, as if the draws did not overlap."""
    means = signs.to(moved.dtype) @ moved / len(moved)
    return (means >= moved.mean(0).amax() - 1e-9).to(moved.dtype).mean(0).sum()


WAYS = (ONE_HEAD, MEAN, MEAN_BOTH, BOTH_SIDES, OTHER_SIDE, COUNTED, _any_pair, _all_heads)


def cases(generator):
    """Two tables: the share of one alone could be met by a guess."""
    return [_table(generator) for _ in range(2)]


def _table(generator):
    """Drawn until no mistake gives nearly the right share, and no mean is so near the truth that rounding decides."""
    while True:
        moved = normal(generator, PAIRS, HEADS)
        moved[:, 3] += 0.5
        signs = torch.randint(2, (DRAWS, PAIRS), generator=generator).float() * 2 - 1
        signs[signs.sum(1) == PAIRS, 0] = -1  # a draw that flips nothing ties with the truth, but for rounding
        means = signs.double() @ moved.double() / PAIRS
        if (means - moved.double().mean(0).amax()).abs().min() < TIED:
            continue
        found = [float(way(moved.double(), signs)) for way in (right, *WAYS)]
        if all(abs(a - b) > APART for i, a in enumerate(found) for b in found[:i]):
            return Case("shares", f"moved ({PAIRS}, {HEADS}), signs ({DRAWS}, {PAIRS})", (moved, signs))


MISTAKES = (
    Mistake("only the best head was flipped and counted", ONE_HEAD,
            "You chose this head because it was the best. Luck must be allowed to choose, too."),
    Mistake("the mean of all heads was taken in each draw", MEAN, "Keep the best head of each draw, whichever it is."),
    Mistake("the mean of all heads was compared", MEAN_BOTH, "What was found is the best head, not the mean."),
    Mistake("heads that move far the wrong way were counted", BOTH_SIDES,
            "Here a hit is at least as far the right way; the sign matters."),
    Mistake("the draws that luck does NOT reach were counted", OTHER_SIDE, "A small share means: luck seldom does as well."),
    Mistake("the number of heads above 0 was compared", COUNTED, "Compare the size of the best mean."),
    Mistake("single pairs were compared in place of means over pairs", _any_pair, "First the mean over the pairs, then the best head."),
    Mistake("the chances of the heads were added", _all_heads,
            "Heads can be lucky in the same draw. Count each draw once."),
)

EXERCISE = Exercise(
    name="luck",
    usage="luck(moved, signs)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="Return one number, a share of the draws, between 0 and 1.",
)
