"""RoPE: explicit numbers, both layouts, offsets, part of the width, precision; and what long contexts do to it."""

import math

import pytest
import torch

from attnbook.attention import SelfAttention, attention
from attnbook.positions import RotaryAttention, interpolated, ntk, rope, rope_frequencies, yarn, yarn_score_factor

LAYOUTS = ["half", "interleaved"]
DTYPES = {torch.bfloat16: 8e-3, torch.float16: 3e-3, torch.float32: 2e-3}


def draws(seed, *shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_position_one_turns_each_basis_vector_as_written():
    c, s, c2, s2 = math.cos(1), math.sin(1), math.cos(0.01), math.sin(0.01)
    expected = {"interleaved": [[c, s, 0, 0], [-s, c, 0, 0], [0, 0, c2, s2], [0, 0, -s2, c2]],
                "half": [[c, 0, s, 0], [0, c2, 0, s2], [-s, 0, c, 0], [0, -s2, 0, c2]]}
    for layout, rows in expected.items():
        got = rope(torch.eye(4), torch.ones(4), layout)
        assert torch.allclose(got, torch.tensor(rows), atol=1e-6)


def test_the_layouts_differ_by_a_permutation():
    x, even_odd = draws(0, 2, 3, 9, 8), [0, 2, 4, 6, 1, 3, 5, 7]
    assert torch.allclose(rope(x[..., even_odd], 4), rope(x, 4, "interleaved")[..., even_odd], atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_scores_depend_on_the_difference_only_and_lengths_are_kept(layout):
    q, k = draws(1, 2, 4, 10, 16)
    here, there = ([rope(x, start, layout) for x in (q, k)] for start in (0, 37))
    assert torch.allclose(here[0] @ here[1].mT, there[0] @ there[1].mT, atol=1e-10)
    assert torch.allclose(here[0].norm(dim=-1), q.norm(dim=-1), atol=1e-12)
    assert torch.equal(here[0][:, 0], q[:, 0])  # position 0 is not turned
    assert not torch.allclose(here[0] @ here[1].mT, q @ k.mT, atol=0.1)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_mixed_layouts_lose_the_relative_property(layout):
    other = LAYOUTS[layout == "half"]
    q, k = draws(1, 2, 4, 10, 16)
    scores = [rope(q, start, layout) @ rope(k, start, other).mT for start in (0, 37)]
    assert (scores[0] - scores[1]).abs().max() > 0.5


def test_a_cache_continues_where_it_stopped():
    x = draws(2, 3, 11, 8)
    full = rope(x, 0)
    pieces = [rope(x[:, a:b], a) for a, b in ((0, 4), (4, 5), (5, 11))]
    assert torch.allclose(torch.cat(pieces, 1), full, atol=1e-12)
    assert torch.allclose(rope(x, torch.arange(11)), full, atol=1e-12)


def test_positions_by_sequence_need_an_axis_for_the_heads():
    x = draws(3, 2, 3, 4, 8)  # batch, heads, tokens
    positions = torch.tensor([[0, 0, 1, 2], [0, 1, 2, 3]])
    got = rope(x, positions[:, None])
    assert torch.allclose(got[1], rope(x[1], 0)) and torch.allclose(got[0, :, 1:], rope(x[0, :, 1:], 0))
    with pytest.raises(ValueError, match=r"positions has shape \(2, 4\); expected \(4,\), or 3 axes"):
        rope(x, positions)


@pytest.mark.parametrize("dtype", DTYPES)
def test_angles_stay_exact_in_every_dtype(dtype):
    positions, d = torch.tensor([0, 1, 255, 257, 1857, 2049, 4095, 15962, 15963]), 32
    unit = torch.zeros(9, d, dtype=dtype)
    unit[:, :16] = 1  # the first half of each pair: cos and sin come out
    got = rope(unit, positions)
    assert got.dtype == dtype
    angles = positions.double()[:, None] * rope_frequencies(d)
    for pair in (0, 1, 7):
        assert (got[:, pair].double() - angles[:, pair].cos()).abs().max() < DTYPES[dtype]
        assert (got[:, 16 + pair].double() - angles[:, pair].sin()).abs().max() < DTYPES[dtype]
    assert (got[-1, [0, 16]] - got[-2, [0, 16]]).abs().max() > 0.3


def test_a_layer_cast_to_half_precision_keeps_its_angles():
    torch.manual_seed(0)
    layer = RotaryAttention(16, 2, causal=True)
    x = torch.randn(1, 300, 16)
    q, _, _ = layer.to(torch.bfloat16).project(x.bfloat16())
    plain, _, _ = SelfAttention.project(layer, x.bfloat16())
    assert torch.allclose(q.float(), rope(plain.float(), 0), atol=0.02)


def test_part_of_the_width_leaves_the_rest_bitwise_alone():
    x = draws(4, 5, 6)
    for layout in LAYOUTS:
        got = rope(x, 3, layout, width=4)
        assert torch.equal(got[:, 4:], x[:, 4:]) and torch.allclose(got[:, :4], rope(x[:, :4], 3, layout))
    assert torch.equal(rope(x, 3, width=0), x)


@pytest.mark.parametrize("call, words", [
    (lambda: rope(torch.zeros(3, 9), 0), "width is 9; expected an even number"),
    (lambda: rope(torch.zeros(3, 8), 0, width=3), "width is 3; expected an even number"),
    (lambda: rope(torch.zeros(3, 8), 0, width=10), "width is 10; expected at most 8"),
    (lambda: rope(torch.zeros(3, 8), 0, "neox"), "layout is 'neox'; expected 'half' or 'interleaved'"),
    (lambda: rope(torch.zeros(3, 8), torch.zeros(2)), r"positions has shape \(2,\); expected \(3,\)"),
    (lambda: rope(torch.zeros(3, 8), torch.zeros(1)), r"positions has shape \(1,\)"),
    (lambda: rope(torch.zeros(3, 8), -1), "positions is -1; expected at least 0"),
    (lambda: rope(torch.zeros(8), 0), r"x has shape \(8,\); expected at least 2 axes"),
    (lambda: rope(torch.zeros(3, 8), 0, base=0), "base is 0"),
    (lambda: rope(torch.zeros(3, 8), 0, frequencies=torch.ones(3)), r"frequencies has shape \(3,\); expected \(4,\)"),
])
def test_errors_name_what_came(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_whole_numbers_cannot_be_turned():
    with pytest.raises(TypeError, match="x is a int64 tensor"):
        rope(torch.zeros(3, 8, dtype=torch.long), 0)
    with pytest.raises(TypeError, match="positions is float 1.5"):
        rope(torch.zeros(3, 8), 1.5)
    with pytest.raises(TypeError, match="positions is a bool tensor"):
        rope(torch.zeros(3, 8), torch.ones(3, dtype=torch.bool))


def test_strided_expanded_and_empty_inputs_work_and_stay_unchanged():
    x = draws(5, 6, 4, 8)
    before = x.clone()
    assert torch.allclose(rope(x.transpose(0, 1), 2), rope(x.transpose(0, 1).contiguous(), 2))
    assert torch.allclose(rope(x[:1].expand(3, 4, 8), 2)[2], rope(x[0], 2))
    assert rope(x[:, :0], 2).shape == (6, 0, 8) and rope(x[:0], 2).shape == (0, 4, 8)
    assert torch.equal(x, before)


def test_gradients_are_turned_back():
    x = draws(6, 3, 4).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: rope(x, 5, "interleaved"), x)


def test_rotary_attention_is_self_attention_with_turned_queries_and_keys():
    torch.manual_seed(0)
    layer = RotaryAttention(12, 3, causal=True).double()
    x = draws(7, 2, 5, 12)
    q, k, v = SelfAttention.project(layer, x)
    out, weights = attention(rope(q, 0), rope(k, 0), v, causal=True)
    assert torch.allclose(layer(x)[1], weights) and torch.allclose(layer.project(x)[2], v)


# -- long contexts ------------------------------------------------------------------------

def test_interpolation_is_a_division_of_positions():
    x = draws(8, 7, 16)
    assert torch.allclose(rope(x, torch.arange(7), frequencies=interpolated(16, 4)), rope(x, torch.arange(7) / 4))


@pytest.mark.parametrize("d, factor", [(32, 4.0), (128, 8.0)])
def test_ntk_keeps_the_fastest_pair_and_slows_the_slowest_by_the_factor(d, factor):
    slower = rope_frequencies(d) / ntk(d, factor)
    assert slower[0] == 1 and slower[-1].item() == pytest.approx(factor)
    assert (slower.diff() > 0).all()
    assert torch.allclose(ntk(d, 1.0), rope_frequencies(d))


def test_yarn_keeps_fast_pairs_interpolates_slow_ones_and_mixes_between():
    d, trained, factor = 128, 4096, 8.0
    own, got = rope_frequencies(d), yarn(d, factor, trained=trained)
    turns = trained * own / (2 * math.pi)
    assert torch.equal(got[turns >= 32], own[turns >= 32])
    assert torch.allclose(got[turns <= 1], own[turns <= 1] / factor)
    between = (turns > 1) & (turns < 32)
    share = (turns[between] - 1) / 31
    assert torch.allclose(got[between], own[between] * (share + (1 - share) / factor))
    assert min((turns >= 32).sum(), (turns <= 1).sum(), between.sum()) >= 10
    assert torch.allclose(yarn(d, 1.0, trained=trained), own)


def test_yarn_sharpens_scores():
    assert yarn_score_factor(1) == yarn_score_factor(0.5) == 1
    assert yarn_score_factor(math.e) == pytest.approx(1.21)


def test_most_slow_pairs_never_complete_a_turn_in_training():
    """Head width 128, base 10000, context 4096: 18 of 64 pairs; the longest wave spans 54,410 positions."""
    waves = 2 * math.pi / rope_frequencies(128)
    assert (waves > 4096).sum() == 18 and waves.max().item() == pytest.approx(54410, abs=1)


@pytest.mark.parametrize("call, words", [
    (lambda: interpolated(16, 0), "factor is 0"), (lambda: ntk(2, 2.0), "width is 2"),
    (lambda: ntk(7, 2.0), "width is 7; expected an even"), (lambda: yarn(16, 2.0, trained=0), "trained is 0"),
    (lambda: yarn(16, 2.0, trained=8, few=3, many=3), "few is 3 and many is 3"),
    (lambda: yarn_score_factor(-1), "factor is -1")])
def test_settings_out_of_range_are_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
