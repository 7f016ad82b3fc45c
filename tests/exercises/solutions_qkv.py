"""Chapter 2: one solution of each exercise; the notebook has the same in its cells."""

SOLUTIONS = {}

SOLUTIONS["scaled_dot_product_attention"] = '''
def scaled_dot_product_attention(q, k, v, mask=None):
    scores = q @ k.mT / math.sqrt(q.shape[-1])  # (..., L, S)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf)
    return torch.softmax(scores, dim=-1) @ v
'''

SOLUTIONS["grouped_attention"] = '''
def grouped_attention(q, k, v):
    group = q.shape[-3] // k.shape[-3]
    k, v = (x.repeat_interleave(group, dim=-3) for x in (k, v))  # 0, 0, 1, 1
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1)
    return weights @ v
'''

SOLUTIONS["cache_bytes"] = '''
def cache_bytes(n_layers, n_heads, n_kv_heads, d_head, n_tokens, bits, d_latent):
    per_layer = 2 * n_kv_heads * d_head if d_latent is None else d_latent
    return n_layers * per_layer * n_tokens * bits / 8
'''

SOLUTIONS["latent_attention"] = '''
def latent_attention(x, w_q, w_down, w_uk, w_uv):
    c = x @ w_down
    scores = (x @ w_q @ w_uk.mT) @ c.mT
    weights = torch.softmax(scores / math.sqrt(w_q.shape[-1]), dim=-1)
    return (weights @ c) @ w_uv
'''

SOLUTIONS["cross_attention"] = '''
def cross_attention(target, source, w_q, w_k, w_v):
    q, k, v = target @ w_q, source @ w_k, source @ w_v
    weights = torch.softmax(q @ k.mT / math.sqrt(q.shape[-1]), dim=-1)
    return weights @ v
'''

SOLUTIONS["impossible_rows"] = '''
def impossible_rows(weights, causal):
    bad = (weights.sum(-1) - 1).abs() > 1e-3
    bad = bad | (weights < 0).any(-1)
    if causal:
        bad = bad | (weights.triu(1) != 0).any(-1)
    return bad
'''
