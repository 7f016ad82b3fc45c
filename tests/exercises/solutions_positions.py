"""Chapter 6: the starter of each exercise, as a reader meets it, and one solution. The notebook has the same in its cells."""

STARTERS = {}
SOLUTIONS = {}

STARTERS["rotated"] = '''
def rotated(x, start, base):
    """x (..., L, d), d even, row p at position start + p -> (..., L, d):
    features i and i + d/2 turned by position * base^(-2i/d)."""
'''

SOLUTIONS["rotated"] = '''
def rotated(x, start, base):
    L, d = x.shape[-2:]
    frequencies = base ** (-torch.arange(0, d, 2) / d)  # (d/2,)
    angles = torch.arange(start, start + L)[:, None] * frequencies
    a, b = x[..., : d // 2], x[..., d // 2:]
    return torch.cat((a * angles.cos() - b * angles.sin(),
                      a * angles.sin() + b * angles.cos()), dim=-1)
'''

STARTERS["rotary_scores"] = '''
def turn(a, b, start):
    """Pairs (a, b), each (..., L, d/2), turned by their positions."""
    L, n = a.shape[-2:]
    places = torch.arange(start, start + L)[:, None]
    angles = places * 100.0 ** (-torch.arange(n) / n)
    return (a * angles.cos() - b * angles.sin(),
            a * angles.sin() + b * angles.cos())


def rotary_scores(q, k, start):
    """q, k (..., L, d), rows at start, start + 1, ... -> q k^T with RoPE."""
    q = torch.cat(turn(*q.chunk(2, -1), start), -1)
    k = torch.stack(turn(k[..., 0::2], k[..., 1::2], start), -1).flatten(-2)
    return q @ k.transpose(-2, -1)
'''

SOLUTIONS["rotary_scores"] = STARTERS["rotary_scores"].replace(
    "    k = torch.stack(turn(k[..., 0::2], k[..., 1::2], start), -1).flatten(-2)\n",
    "    k = torch.cat(turn(*k.chunk(2, -1), start), -1)  # halves, like q\n")

STARTERS["wave_table"] = '''
def wave_table(n, d):
    """Positions 0 to n - 1, any width d -> (n, d): column 2i holds
    sin(p / 10000^(2i/d)), column 2i + 1 the cosine of the same angle."""
'''

SOLUTIONS["wave_table"] = '''
def wave_table(n, d):
    two_i = torch.arange(0, d, 2, dtype=torch.float64)  # the even columns
    angles = torch.arange(n)[:, None] * 10000.0 ** (-two_i / d)
    table = torch.zeros(n, d, dtype=torch.float64)
    table[:, 0::2] = angles.sin()
    table[:, 1::2] = angles.cos()[:, : d // 2]  # one cosine less if d is odd
    return table
'''

STARTERS["token_positions"] = '''
def token_positions(mask):
    """mask (..., L), True = real token, padding on the left
    -> positions (..., L): 0 for the first real token, and for padding."""
    return torch.arange(mask.shape[-1]).expand(mask.shape)
'''

SOLUTIONS["token_positions"] = '''
def token_positions(mask):
    counted = mask.long().cumsum(-1) - 1  # real tokens so far, from 0
    return counted.clamp(min=0)  # padding before them
'''

STARTERS["linear_bias"] = '''
def linear_bias(slopes, L, S):
    """slopes (H,); the last of L queries stands at the last of S keys
    -> (H, L, S): minus slope times distance."""
'''

SOLUTIONS["linear_bias"] = '''
def linear_bias(slopes, L, S):
    queries = torch.arange(S - L, S)[:, None]  # the last L of S places
    distance = (queries - torch.arange(S)).abs()  # (L, S)
    return -slopes[:, None, None] * distance
'''

STARTERS["last_output_changes"] = '''
def last_output_changes(layers, causal, scheme):
    """Can the output of the last token change when the tokens before it
    are shuffled? -> True or False.

    layers: 1 or more, each with attention and a feed-forward part;
    causal: True with a causal mask, False without any mask;
    scheme: "none", "sinusoidal", "rope" or "alibi"
    """
'''

SOLUTIONS["last_output_changes"] = '''
def last_output_changes(layers, causal, scheme):
    if scheme != "none":
        return True  # every scheme tells the places apart, at any depth
    return causal and layers >= 2  # the mask does, from the second layer on
'''
