"""Chapter 8: one solution of each exercise, and the starters; the notebook has the same in its cells."""

SOLUTIONS, STARTERS = {}, {}

SOLUTIONS["cache_step"] = '''
def cache_step(q, k, v, old_k, old_v):
    k, v = torch.cat((old_k, k), dim=-2), torch.cat((old_v, v), dim=-2)
    scores = q @ k.mT / math.sqrt(q.shape[-1])  # (..., L, S + L)
    L, total = scores.shape[-2:]
    seen = torch.ones(L, total, dtype=torch.bool).tril(total - L)
    return torch.softmax(scores.masked_fill(~seen, -math.inf), dim=-1) @ v
'''
STARTERS["cache_step"] = '''
def cache_step(q, k, v, old_k, old_v):
    """Outputs of the new tokens."""
'''

SOLUTIONS["chunk_scores"] = '''
def chunk_scores(q, k, old_k, turn):
    start = old_k.shape[-2]  # the position of the first new token
    q, k = turn(q, start), turn(k, start)
    return q @ torch.cat((old_k, k), dim=-2).mT
'''
STARTERS["chunk_scores"] = '''
def chunk_scores(q, k, old_k, turn):
    keys = torch.cat((old_k, k), dim=-2)
    return turn(q, 0) @ turn(keys, 0).mT
'''

SOLUTIONS["parameters"] = '''
def parameters(n_tokens, d_model, n_heads, n_layers):
    attend = 4 * d_model ** 2
    think = 2 * d_model * 4 * d_model + 4 * d_model + d_model
    norm = 2 * d_model
    layer = attend + think + 2 * norm
    return 2 * n_tokens * d_model + n_layers * layer + norm
'''
STARTERS["parameters"] = '''
def parameters(n_tokens, d_model, n_heads, n_layers):
    """How many numbers training sets."""
'''

SOLUTIONS["wall"] = '''
def wall(a, share):
    b = 1 - a
    variance = a ** 2 + b ** 2  # of the mixture
    return (share * b ** 2 + (1 - share) * a ** 2) / variance
'''
STARTERS["wall"] = '''
def wall(a, share):
    """Least mean square error."""
'''
