"""What softmax makes of a set of scores: how sharp its rows are, and how much gradient they let through (chapter 3)."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from attnbook import _checks
from attnbook.softmax import entropy, softmax

DEAD = 1e-3  # a row whose Jacobian norm is below this passes hardly any gradient; a row of 2 equal weights has 0.5


def jacobian_norm(weights: Float[Tensor, "... S"]) -> Float[Tensor, "..."]:
    """Frobenius norm of the Jacobian of softmax, diag(p) - p p^T, for each row p of weights, without forming it.

    At most 1/2, for two equal weights; sqrt(n - 1) / n for n equal ones; 0 for a row that is one-hot.
    """
    _checks.float_tensor("weights", weights, min_dim=1)
    # p_i^2 (1 - p_i)^2 on the diagonal and p_i^2 p_j^2 beside it; no difference of large terms, so tiny norms are exact
    square = weights.square()
    rest = square.sum(-1, keepdim=True) - square
    top = weights.argmax(-1, keepdim=True)
    others = weights.scatter(-1, top, 0.0)
    complement = (1 - weights).scatter(-1, top, others.sum(-1, keepdim=True))  # 1 - p without cancellation at p near 1
    rest = rest.scatter(-1, top, others.square().sum(-1, keepdim=True))
    return (square * (complement.square() + rest)).sum(-1).sqrt()


def dead_rows(scores: Float[Tensor, "... S"], threshold: float = DEAD) -> Float[Tensor, ""]:
    """Share of rows whose softmax passes hardly any gradient: a Jacobian norm below the threshold."""
    return (jacobian_norm(softmax(scores)) < threshold).to(scores.dtype).mean()


@dataclass(frozen=True)
class ScoreStatistics:
    """What a set of scores looks like to softmax. See score_statistics for the meaning of each number."""

    std: float
    largest: float
    top_weight: float
    entropy_share: float
    jacobian: float
    dead: float
    rows: int


def score_statistics(scores: Float[Tensor, "... L S"]) -> ScoreStatistics:
    """Statistics over all rows of scores as they enter softmax; -inf marks hidden keys.

    std and largest: of the visible scores about the mean of their row. top_weight: mean of the largest weight.
    entropy_share: mean entropy as a share of ln(visible keys), 1 for uniform rows. jacobian: median of the norms.
    dead: share of rows with a norm below 1e-3. rows: how many rows were used.
    Rows with fewer than two visible keys have nothing to choose and are left out.

    Raises TypeError if scores is not a floating-point tensor, ValueError if no row is left or a score is NaN or +inf.
    """
    _checks.float_tensor("scores", scores, min_dim=2)
    rows = scores.detach().flatten(0, -2).double()
    if not (rows < torch.inf).all():
        raise ValueError("scores holds NaN or infinity; expected finite numbers, or -inf for hidden keys")
    visible = rows != -torch.inf
    several = visible.sum(-1) > 1
    if not several.any():
        raise ValueError(f"scores has shape {tuple(scores.shape)} and no row with two visible keys; "
                         "expected at least one")
    rows, visible = rows[several], visible[several]
    n = visible.sum(-1)
    centred = (rows - rows.masked_fill(~visible, 0.0).sum(-1, keepdim=True) / n[:, None])[visible]
    weights = softmax(rows)
    norms = jacobian_norm(weights)
    return ScoreStatistics(
        std=centred.square().mean().sqrt().item(),
        largest=centred.abs().max().item(),
        top_weight=weights.amax(-1).mean().item(),
        entropy_share=(entropy(weights) / n.double().log()).mean().item(),
        jacobian=norms.median().item(),
        dead=(norms < DEAD).double().mean().item(),
        rows=len(rows),
    )
