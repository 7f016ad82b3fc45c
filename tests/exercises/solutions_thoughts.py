"""Chapter 7: the starter of each exercise, as a reader meets it, and one solution. The notebook has the same in its cells."""

STARTERS = {}
SOLUTIONS = {}

STARTERS["possible"] = '''
def possible(numbers, mask):
    """numbers (L, S), two decimals; mask (L, S), True = may attend.

    Can these be the weights of one head under that mask? -> True or False
    """
    return bool((numbers.sum(0) - 1).abs().max() < 0.03)
'''

SOLUTIONS["possible"] = '''
def possible(numbers, mask):
    sums = mask.any(-1).to(numbers.dtype)  # 0 for a row that sees nothing
    adds_up = (numbers.sum(-1) - sums).abs().max() < 0.03
    return bool(adds_up and (numbers >= 0).all() and not numbers[~mask].any())
'''

STARTERS["products"] = '''
def products(method, n, d, window):
    """Multiplications in the matrix products of one head of width d.

    "dense", "tiled": n queries, n keys, no mask.
    "window": each of n queries meets `window` keys.
    "linear": feature maps of width d, without the normaliser.
    """
    return n * n
'''

SOLUTIONS["products"] = '''
def products(method, n, d, window):
    met = {"dense": n, "tiled": n, "window": window, "linear": d}[method]
    return 2 * n * met * d  # once for the scores, once for the mixing
'''

STARTERS["online_attention"] = '''
def online_attention(scores, values, block):
    """scores (n,) of one query, -inf = hidden; values (n, d)
    -> softmax(scores) @ values, (d,), zeros if all is hidden."""
    peak = torch.tensor(0.0, dtype=scores.dtype)
    total, mixed = torch.zeros_like(peak), torch.zeros_like(values[0])
    for start in range(0, len(scores), block):
        s, v = scores[start:start + block], values[start:start + block]
        new = torch.maximum(peak, s.max())
        e = torch.exp(s - new)
        total = total * torch.exp(peak - new) + e.sum()
        mixed = mixed + e @ v
        peak = new
    return mixed / total
'''

SOLUTIONS["online_attention"] = '''
def online_attention(scores, values, block):
    peak = torch.tensor(-torch.inf, dtype=scores.dtype)  # of nothing
    total, mixed = torch.zeros_like(peak), torch.zeros_like(values[0])
    for start in range(0, len(scores), block):
        s, v = scores[start:start + block], values[start:start + block]
        new = torch.maximum(peak, s.max())
        if new == -torch.inf:
            continue  # everything hidden so far
        e, fade = torch.exp(s - new), torch.exp(peak - new)
        total = total * fade + e.sum()
        mixed = mixed * fade + e @ v  # both sums fade alike
        peak = new
    return mixed / total if total > 0 else mixed
'''

STARTERS["merged"] = '''
def merged(out_a, lse_a, out_b, lse_b):
    """out (..., L, d): attention over some keys; lse (..., L): log of the sum
    of their exponentials -> (out, lse) over the keys of both. At most one
    of the two sums is empty (-inf)."""
'''

SOLUTIONS["merged"] = '''
def merged(out_a, lse_a, out_b, lse_b):
    peak = torch.maximum(lse_a, lse_b)
    a, b = torch.exp(lse_a - peak), torch.exp(lse_b - peak)
    total = a + b  # between 1 and 2
    out = (a / total)[..., None] * out_a + (b / total)[..., None] * out_b
    return out, peak + torch.log(total)
'''

STARTERS["window"] = '''
def window(L, S, w):
    """(L, S), True = may attend: the last w keys, the own one included.
    The last query stands at the last key."""
    i, j = torch.arange(L)[:, None], torch.arange(S)
    return (j <= i) & (j >= i - w)
'''

SOLUTIONS["window"] = '''
def window(L, S, w):
    i, j = torch.arange(L)[:, None] + S - L, torch.arange(S)
    return (j <= i) & (j > i - w)
'''

STARTERS["far_sight"] = '''
def far_sight(n):
    """-> (mask, edges): mask (n, n), True = may attend; how many are True.

    Causal; each token sees itself; two layers carry every token to every
    later one; at most 3 n sqrt(n) entries are True.
    """
    i, j = torch.arange(n)[:, None], torch.arange(n)
    mask = (j <= i) & (j > i - 8)
    return mask, 8 * n
'''

SOLUTIONS["far_sight"] = '''
def far_sight(n):
    step = math.isqrt(n)
    i, j = torch.arange(n)[:, None], torch.arange(n)
    near = i - j < step
    far = (i - j) % step == 0  # the near one of layer 1 meets a far one
    mask = (j <= i) & (near | far)
    return mask, int(mask.sum())
'''

STARTERS["linear_causal"] = '''
def linear_causal(q, k, v):
    """q, k (n, d), v (n, e) -> (n, e): linear attention, elu(x) + 1 as
    feature map, token i reads tokens 0 to i."""
    state = torch.zeros(k.shape[-1], v.shape[-1], dtype=v.dtype)
    rows = []
    for query, key, value in zip(q, k, v):
        state = state + key[:, None] * value
        rows.append(query @ state)
    return torch.stack(rows)
'''

SOLUTIONS["linear_causal"] = '''
def linear_causal(q, k, v):
    q, k = nn.functional.elu(q) + 1, nn.functional.elu(k) + 1
    state = torch.zeros(k.shape[-1], v.shape[-1], dtype=v.dtype)
    total = torch.zeros(k.shape[-1], dtype=v.dtype)
    rows = []
    for query, key, value in zip(q, k, v):
        state = state + key[:, None] * value
        total = total + key  # what the weights of a row sum to
        rows.append(query @ state / (query @ total))
    return torch.stack(rows)
'''
