"""Chapter 4: the starter of each exercise, as a reader meets it, and one solution. The notebook has the same in its cells."""

STARTERS = {}
SOLUTIONS = {}

STARTERS["tempered"] = '''
def tempered(x, temperature):
    """x (..., n), temperature at least 0 -> weights (..., n).

    T > 0: softmax of x / T along the last axis, for scores of any size.
    T = 0: one-hot weights of the largest score of each row.
    """
'''

SOLUTIONS["tempered"] = '''
def tempered(x, temperature):
    if temperature == 0:
        return nn.functional.one_hot(x.argmax(-1), x.shape[-1]).to(x.dtype)
    z = (x - x.amax(-1, keepdim=True)) / temperature  # the peak of each row
    e = torch.exp(z)
    return e / e.sum(-1, keepdim=True)
'''

STARTERS["softmax_backward"] = '''
def softmax_backward(p, grad):
    """p: weights (..., n) that came out of a softmax over the last axis,
    grad: gradient of the loss with respect to p, (..., n)
    -> gradient of the loss with respect to the scores, (..., n)."""
'''

SOLUTIONS["softmax_backward"] = '''
def softmax_backward(p, grad):
    mean = (p * grad).sum(-1, keepdim=True)  # sum over j of p_j grad_j
    return p * (grad - mean)
'''

STARTERS["keep_nucleus"] = '''
def keep_nucleus(probabilities, p):
    """probabilities (n,), sum 1; p in (0, 1]
    -> (n,) True for the tokens that top-p keeps."""
    order = probabilities.argsort(descending=True)
    reached = probabilities[order].cumsum(0)
    return reached <= p
'''

SOLUTIONS["keep_nucleus"] = '''
def keep_nucleus(probabilities, p):
    order = probabilities.argsort(descending=True)
    ranked = probabilities[order]
    before = ranked.cumsum(0) - ranked  # probability of all better tokens
    keep = torch.zeros(len(ranked), dtype=torch.bool)
    keep[order] = before < p  # back to the places of the tokens
    return keep
'''

STARTERS["next_probabilities"] = '''
def next_probabilities(logits, temperature, k):
    """logits (..., V) -> probabilities (..., V) of the next token:
    temperature, then the k best only, sum 1."""
    p = torch.softmax(logits, dim=-1) / temperature
    least = p.topk(k, dim=-1).values[..., -1:]
    return p.masked_fill(p < least, 0.0)
'''

SOLUTIONS["next_probabilities"] = '''
def next_probabilities(logits, temperature, k):
    z = logits / temperature  # the temperature belongs to the logits
    least = z.topk(k, dim=-1).values[..., -1:]
    z = z.masked_fill(z < least, -torch.inf)  # hide, then normalise
    return torch.softmax(z, dim=-1)
'''

STARTERS["mean_loss"] = '''
def mean_loss(logits, targets):
    """logits (..., V), targets (...) token ids -> mean cross-entropy in nats."""
    probabilities = torch.softmax(logits, dim=-1)
    return nn.functional.cross_entropy(
        probabilities.flatten(0, -2), targets.flatten())
'''

SOLUTIONS["mean_loss"] = '''
def mean_loss(logits, targets):
    return nn.functional.cross_entropy(  # it applies log-softmax itself
        logits.flatten(0, -2), targets.flatten())
'''

STARTERS["same_weights"] = '''
def same_weights(change, c):
    """Does softmax return the same weights for every row? -> True or False.

    change: what is done to the scores x, c a number above 0:
      "add to all"         x + c
      "add to one"         c is added to the first score only
      "multiply"           c * x
      "multiply, and T"    c * x, at temperature c
      "subtract the peak"  x minus its largest score, then + c
      "shares again"       the weights w are divided by c, then by their sum
      "softmax twice"      softmax(c * softmax(x))
    """
'''

SOLUTIONS["same_weights"] = '''
def same_weights(change, c):
    if change in ("add to all", "multiply, and T", "subtract the peak",
                  "shares again"):
        return True  # the gaps, or gap over temperature, stay as they are
    return change == "multiply" and c == 1
'''
