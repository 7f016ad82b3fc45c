"""Find the bugs: an online softmax.

online_attention(scores, values, block): scores (n,) of one query, -inf for hidden keys, values (n, d). Returns softmax(scores)
times values, (d,), from blocks of `block` keys, with running sums; zeros if every key is hidden.
"""

import torch

from attnbook.exercises._exercise import Case, Exercise, Mistake, holds_nan, normal
from attnbook.exercises._report import report


def check_online_attention(fn) -> None:
    """Check online_attention(scores, values, block) and print one message."""
    report(EXERCISE, fn)


def _online(start=-torch.inf, sum_too=True, mix_too=True, ragged=True, turn=1.0, divide=True, first=0, each=False):
    """The running sums, with one stage changed."""
    def fn(scores, values, block):
        peak, total, mixed = torch.tensor(start, dtype=scores.dtype), scores.new_zeros(()), values.new_zeros(values.shape[-1])
        stop = len(scores) if ragged else len(scores) - len(scores) % block
        for i in range(first * block, stop, block):
            s, v = scores[i:i + block], values[i:i + block]
            new = torch.maximum(peak, s.max())
            if new == -torch.inf:
                continue
            fade, e = ((peak - new) * turn).exp(), (s - (s.max() if each else new)).exp()
            total = total * (fade if sum_too else 1) + e.sum()
            mixed = mixed * (fade if mix_too else 1) + e @ v
            peak = new
        return mixed / total.masked_fill(total == 0, 1) if divide else mixed
    return fn


right = _online()


def _of_last(scores, values, block):
    """Each block softmaxed alone, and the blocks averaged."""
    parts = [torch.softmax(s, 0) @ v for s, v in zip(scores.split(block), values.split(block))]
    return torch.stack(parts).mean(0)


def _last_only(scores, values, block):
    return torch.softmax(scores.split(block)[-1], 0) @ values.split(block)[-1]


# -- the inputs ------------------------------------------------------------------------------

def cases(generator):
    rising = torch.arange(6.0) + 0.3 * torch.rand(6, generator=generator)
    falling = torch.tensor([2.0, 2, 2, 1, 1, 1, 0]) + torch.rand(7, generator=generator)
    low = normal(generator, 6).double() - 1000  # float32 has few digits left there for who merges logarithms of sums
    hidden = normal(generator, 6)
    hidden[:2] = -torch.inf
    return [
        Case("one block", "scores (4,), values (4, 3), block 4", (normal(generator, 4), normal(generator, 4, 3), 4)),
        Case("rising", "scores (6,) that rise from key to key, values (6, 3), block 2", (rising, normal(generator, 6, 3), 2)),
        Case("ragged", "scores (7,) that fall from block to block, values (7, 3), block 3",
             (falling, normal(generator, 7, 3), 3)),
        Case("low", "scores (6,) near -1000, float64, values (6, 3), block 2",
             (low, normal(generator, 6, 3).double(), 2)),
        Case("hidden", "scores (6,), the first two -inf, values (6, 3), block 2", (hidden, normal(generator, 6, 3), 2)),
        Case("nothing", "scores (4,), all -inf, values (4, 3), block 2",
             (torch.full((4,), -torch.inf), normal(generator, 4, 3), 2)),
    ]


# -- the mistakes ----------------------------------------------------------------------------

MISTAKES = (
    Mistake("the result is not divided by the sum of the exponentials", _online(divide=False),
            "The running mixture is a sum of exponentials times values. One division at the very end makes it a mean.",
            ("one block",)),
    Mistake("the mixture is not rescaled when the maximum grows", _online(mix_too=False),
            "What was added before was measured against the old maximum. Sum and mixture need the same correction.", ("rising",)),
    Mistake("the sum is not rescaled when the maximum grows", _online(sum_too=False),
            "What was added before was measured against the old maximum. Sum and mixture need the same correction.", ("rising",)),
    Mistake("neither sum nor mixture is rescaled when the maximum grows", _online(sum_too=False, mix_too=False),
            "Early exponentials were taken against a smaller maximum, so they count too much.", ("rising",)),
    Mistake("the correction goes the wrong way", (_online(turn=-1.0), _online(turn=-1.0, start=0.0)),
            "When the maximum grows, what came before must shrink.", ("one block", "rising")),
    Mistake("each block has its own maximum and the sums are not brought together", _online(each=True),
            "Exponentials of different blocks can only be added if they were taken against one number.", ("rising", "ragged")),
    Mistake("every block was given a softmax of its own", _of_last,
            "A block with low scores then counts as much as one with high scores.", ("rising",)),
    Mistake("only the last block is left", _last_only, "Earlier blocks have to stay in the running sums.", ("rising",)),
    Mistake("the keys after the last full block are lost", _online(ragged=False),
            "The last block may be shorter than the others. Count the keys that were read.", ("ragged",)),
    Mistake("the first block is skipped", _online(first=1), "Begin with the first key.", ("rising", "ragged")),
    Mistake("the running maximum starts at 0", (),
            "If all scores lie far below 0, every exponential rounds to 0. The maximum of nothing is minus infinity.", ("low",),
            sign=lambda got, case: bool(got.isnan().all() or (got == 0).all())),
    Mistake("a difference of two infinities", (), "A block in which everything is hidden has no maximum. Its exponentials are "
            "all 0, and there is nothing to correct.", ("hidden",), sign=holds_nan),
    Mistake("a division by a sum of 0", (), "A query that may look at nothing gets zeros; guard the last division.",
            ("nothing",), sign=holds_nan),
)

EXERCISE = Exercise(
    name="online_attention",
    usage="online_attention(scores, values, block)",
    right=right,
    cases=cases,
    mistakes=MISTAKES,
    convention="scores (n,) and values (n, d) go in, the weighted mean of the values, (d,), comes out.",
)
