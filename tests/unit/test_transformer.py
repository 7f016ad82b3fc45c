"""The assembled model: equal to torch's own layers, causal, and the same in chunks of any size as in one run."""

from functools import partial

import pytest
import torch
from torch import nn

from attnbook.attention import SelfAttention
from attnbook.caches import cached_numbers
from attnbook.softmax import sample
from attnbook.transformer import POSITIONS, Block, CachedSelfAttention, KVCache, TinyTransformer, generate

CHUNKINGS = ([7], [1] * 7, [4, 1, 1, 1], [3, 4], [6, 1], [2, 0, 5], [0, 7])
F = nn.functional


def normal(*shape, seed=0, dtype=torch.float64):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def ids(*shape, seed=0, n=11):
    return torch.randint(n, shape, generator=torch.Generator().manual_seed(seed))


def made(kind, *sizes, dtype=torch.float64, **options):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return kind(*sizes, **options).to(dtype)


# -- one layer and its cache ----------------------------------------------------------------

@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("chunks", CHUNKINGS, ids=str)
def test_chunks_of_any_size_equal_the_full_run(chunks, rotary):
    layer, cache, x = made(CachedSelfAttention, 12, 3, rotary=rotary), KVCache(), normal(2, 7, 12)
    whole, weights = layer(x)
    for end, part in zip(torch.tensor(chunks).cumsum(0).tolist(), x.split(chunks, -2)):
        out, seen = layer(part, cache=cache)
        rows = slice(end - part.shape[-2], end)
        assert len(cache) == end and out.shape == part.shape
        assert torch.allclose(out, whole[..., rows, :], atol=1e-12)
        assert torch.allclose(seen, weights[..., rows, :end], atol=1e-12)


@pytest.mark.parametrize("t", range(1, 8))
def test_the_newest_query_sees_every_cached_key(t):
    layer, cache, x = made(CachedSelfAttention, 8, 2, dtype=torch.float32), KVCache(), normal(7, 8, dtype=torch.float32)
    layer(x[:7 - t], cache=cache)
    out, weights = layer(x[7 - t:], cache=cache)
    assert torch.allclose(out, layer(x)[0][7 - t:], atol=1e-5)
    assert (weights[:, -1] > 0).all()


@pytest.mark.parametrize("batch", [(), (2,), (2, 1, 3)])
def test_any_batch_axes(batch):
    layer, cache, x = made(CachedSelfAttention, 8, 2), KVCache(), normal(*batch, 5, 8)
    parts = [layer(part, cache=cache)[0] for part in x.split(2, -2)]
    assert torch.allclose(torch.cat(parts, -2), layer(x)[0], atol=1e-12)
    assert cache.keys.shape == (*batch, 2, 5, 4)


@pytest.mark.parametrize("dtype, tolerance", [(torch.float16, 3e-3), (torch.bfloat16, 2.5e-2), (torch.float32, 1e-5)])
def test_the_dtype_is_kept(dtype, tolerance):
    exact = made(CachedSelfAttention, 8, 2)
    layer, cache, x = made(CachedSelfAttention, 8, 2, dtype=dtype), KVCache(), normal(5, 8)
    out = torch.cat([layer(part.to(dtype), cache=cache)[0] for part in x.split([3, 1, 1])], -2)
    assert out.dtype == cache.keys.dtype == cache.values.dtype == dtype
    assert torch.allclose(out.double(), exact(x)[0], atol=tolerance)


def test_without_a_cache_it_is_causal_self_attention():
    layer, x = made(CachedSelfAttention, 12, 3), normal(2, 5, 12)
    plain = SelfAttention(12, 3, causal=True).double()
    plain.load_state_dict(layer.state_dict())
    assert all(torch.equal(a, b) for a, b in zip(layer(x), plain(x)))


def test_a_mask_and_a_bias_reach_the_cached_keys():
    layer, cache, x = made(CachedSelfAttention, 8, 2), KVCache(), normal(5, 8)
    mask, bias = torch.ones(5, 5, dtype=torch.bool), normal(2, 5, 5, seed=3)
    mask[:, 1] = False  # True = may attend: nobody reads token 1
    mask[1, 1] = True
    whole, _ = layer(x, mask=mask, bias=bias)
    layer(x[:3], mask=mask[:3, :3], bias=bias[:, :3, :3], cache=cache)
    out, weights = layer(x[3:], mask=mask[3:], bias=bias[:, 3:], cache=cache)
    assert torch.allclose(out, whole[3:], atol=1e-12) and (weights[..., 1] == 0).all()


def test_the_gradient_flows_through_the_cache():
    layer, cache, x = made(CachedSelfAttention, 8, 2, rotary=True), KVCache(), normal(6, 8)
    weights = tuple(layer.parameters())
    expected = torch.autograd.grad(layer(x)[0].square().sum(), weights)
    out = torch.cat([layer(part, cache=cache)[0] for part in x.split(2)])
    for got, want in zip(torch.autograd.grad(out.square().sum(), weights), expected):
        assert torch.allclose(got, want, atol=1e-12)


def test_what_was_read_from_a_cache_stays_as_it_was():
    cache = KVCache()
    k, v = cache.extend(normal(2, 3, 4), normal(2, 3, 5, seed=1))
    before = k.clone(), v.clone()
    cache.extend(normal(2, 2, 4, seed=2), normal(2, 2, 5, seed=3))
    assert torch.equal(k, before[0]) and torch.equal(v, before[1]) and len(cache) == 5


def test_a_cache_says_what_it_holds():
    assert repr(KVCache()) == "KVCache(0 tokens, 0 numbers)"
    cache = KVCache()
    cache.extend(normal(2, 3, 4), normal(2, 3, 5))
    assert repr(cache) == "KVCache(3 tokens, 54 numbers)"


@pytest.mark.parametrize("k, v, error, words", [
    (normal(2, 2, 4), normal(2, 3, 5), ValueError, r"v has shape \(2, 3, 5\); expected \(2, 2, 'd_v'\), as k"),
    (normal(3, 2, 4), normal(3, 2, 5), ValueError, r"k has shape \(3, 2, 4\); .* to continue a cache of 3 tokens"),
    (normal(2, 2, 6), normal(2, 2, 5), ValueError, r"k has shape \(2, 2, 6\)"),
    (normal(2, 2, 4), normal(2, 2, 6), ValueError, r"v has shape \(2, 2, 6\)"),
    (normal(2, 2, 4).float(), normal(2, 2, 5).float(), TypeError, "mixed dtypes: cache float64, k float32"),
    (ids(2, 2, 4), normal(2, 2, 5), TypeError, "k is a int64 tensor"),
])
def test_what_does_not_continue_the_cache_is_refused_and_the_cache_kept(k, v, error, words):
    cache = KVCache()
    cache.extend(normal(2, 3, 4), normal(2, 3, 5))
    with pytest.raises(error, match=words):
        cache.extend(k, v)
    assert len(cache) == 3 and cache.values.shape == (2, 3, 5)


# -- the block and the model against torch ---------------------------------------------------

@pytest.mark.parametrize("order", ["pre", "post"])
def test_a_block_equals_torchs_layer(order):
    ours = made(Block, 12, 3, order=order)
    theirs = nn.TransformerEncoderLayer(12, 3, 48, 0.0, batch_first=True, norm_first=order == "pre").double()
    attend = ours.attend
    with torch.no_grad():
        theirs.self_attn.in_proj_weight.copy_(torch.cat([w.weight for w in (attend.query, attend.key, attend.value)]))
        theirs.self_attn.in_proj_bias.zero_()
        theirs.self_attn.out_proj.weight.copy_(attend.output.weight)
        theirs.self_attn.out_proj.bias.zero_()
    for mine, other in ((ours.think[0], theirs.linear1), (ours.think[2], theirs.linear2),
                        (ours.norm_attend, theirs.norm1), (ours.norm_think, theirs.norm2)):
        other.load_state_dict(mine.state_dict())
    x = normal(2, 6, 12)
    hidden = nn.Transformer.generate_square_subsequent_mask(6).double()
    assert torch.allclose(ours(x), theirs(x, src_mask=hidden, is_causal=True), atol=1e-12)


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("order", ["pre", "post"])
@pytest.mark.parametrize("chunks", CHUNKINGS, ids=str)
def test_the_model_in_chunks_equals_its_full_run(positions, order, chunks):
    model = made(TinyTransformer, 11, 12, 3, 2, positions=positions, order=order)
    tokens, caches = ids(2, 7), model.new_caches()
    parts = [model(part, caches) for part in tokens.split(chunks, -1)]
    assert torch.allclose(torch.cat(parts, -2), model(tokens), atol=1e-12)
    assert [len(cache) for cache in caches] == [7, 7]
    assert sum(cache.numbers() for cache in caches) == 2 * 7 * cached_numbers(2, 3, 4)


@pytest.mark.parametrize("positions", POSITIONS)
def test_a_later_token_changes_nothing_before_it(positions):
    model, tokens = made(TinyTransformer, 11, 12, 3, 2, positions=positions), ids(7)
    other = tokens.clone()
    other[5] = (other[5] + 1) % 11
    before, after = model(tokens), model(other)
    assert torch.equal(before[:5], after[:5]) and not torch.allclose(before[5], after[5])


@pytest.mark.parametrize("positions, same", [("none", True), ("rope", False), ("sinusoidal", False)])
def test_order_of_the_past_counts_if_there_are_positions(positions, same):
    """One layer: without positions the last token sees a set; from two layers on the causal mask itself tells order."""
    model, tokens = made(TinyTransformer, 11, 12, 3, 1, positions=positions), torch.arange(7)
    swapped = tokens[[1, 0, 2, 3, 4, 5, 6]]
    assert torch.allclose(model(tokens)[-1], model(swapped)[-1], atol=1e-12) is same


def test_every_parameter_gets_a_finite_gradient():
    model, tokens = made(TinyTransformer, 11, 12, 3, 2, dtype=torch.float32), ids(4, 7)
    F.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten()).backward()
    for name, weight in model.named_parameters():
        assert weight.grad is not None and weight.grad.isfinite().all() and weight.grad.any(), name


def test_no_tokens_and_no_layers_are_allowed():
    assert made(TinyTransformer, 11, 8)(ids(2, 0)).shape == (2, 0, 11)
    assert made(TinyTransformer, 11, 12, 3, 0)(ids(2, 5)).shape == (2, 5, 11)


@pytest.mark.parametrize("options, words", [
    ({"positions": "alibi"}, "positions is 'alibi'; expected one of rope, sinusoidal, none"),
    ({"order": "sandwich"}, "order is 'sandwich'; expected one of pre, post"),
    ({"n_heads": 5}, "expected a multiple of n_heads = 5"),
    ({"n_tokens": 0}, "n_tokens is 0; expected at least 1"),
])
def test_options_that_make_no_sense_are_named(options, words):
    with pytest.raises(ValueError, match=words):
        TinyTransformer(**{"n_tokens": 11, "d_model": 12, "n_heads": 3, **options})


@pytest.mark.parametrize("tokens, error, words", [
    (torch.tensor([0, 11]), ValueError, r"ids lie in 0\.\.11; expected 0\.\.10"),
    (torch.tensor([-1, 3]), ValueError, r"ids lie in -1\.\.3; expected 0\.\.10"),
    (torch.tensor([0.0]), TypeError, "ids is a float32 tensor"),
    (torch.tensor(3), ValueError, r"ids has shape \(\); expected \(\.\.\., L\)"),
    ([1, 2], TypeError, "ids is list; expected a tensor of whole numbers"),
])
def test_wrong_ids_are_named(tokens, error, words):
    with pytest.raises(error, match=words):
        made(TinyTransformer, 11, 8)(tokens)


def test_caches_of_another_model_are_refused():
    model = made(TinyTransformer, 11, 12, 3, 2)
    with pytest.raises(ValueError, match="caches has 1 caches; expected 2, one for each layer"):
        model(ids(3), [KVCache()])
    uneven = model.new_caches()
    model(ids(3), uneven)
    uneven[1] = KVCache()
    with pytest.raises(ValueError, match=r"caches hold \[3, 0\] tokens; expected the same number in each layer"):
        model(ids(3), uneven)


# -- writing ----------------------------------------------------------------------------------

@pytest.mark.parametrize("prompt", [ids(3), ids(2, 3)], ids=["one", "batch"])
def test_writing_with_and_without_a_cache_is_the_same(prompt):
    model = made(TinyTransformer, 11, 12, 3, 2)
    written = [generate(model, prompt, 9, partial(sample, generator=torch.Generator().manual_seed(4)), cached=cached)
               for cached in (True, False)]
    assert torch.equal(*written) and written[0].shape == (*prompt.shape[:-1], 9)


def test_writing_needs_a_prompt_and_leaves_it_alone():
    model, prompt = made(TinyTransformer, 11, 12, 3, 2), ids(3)
    generate(model, prompt, 2)
    assert torch.equal(prompt, ids(3)) and generate(model, prompt, 0).shape == (0,)
    with pytest.raises(ValueError, match="at least one token"):
        generate(model, ids(2, 0), 4)
    with pytest.raises(ValueError, match="length is -1"):
        generate(model, prompt, -1)
