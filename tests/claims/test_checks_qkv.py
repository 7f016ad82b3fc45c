"""Traps: the checks of chapter 2 can fail."""

import pytest
import torch

from attnbook.attention import attention
from attnbook.caches import PUBLISHED, Published
from attnbook.claims import qkv, qkv_minimal, qkv_symmetry
from attnbook.projections import LatentAttention


def over_the_wrong_axis(q, k, v, *, scale=None, causal=False, normalise=None):
    factor = q.shape[-1] ** -0.5 if scale is None else scale
    weights = (q @ k.mT * factor).softmax(-2)
    return weights @ v, weights


def blind_to_keys(q, k, v, **options):
    return attention(q, k * 0, v, **options)


def always_soft(q, k, v, normalise=None, **options):
    return attention(q, k, v, **options)


def knows_all(*args, **options):
    return [1.0] * 5


def knows_nothing(*args, **options):
    return [0.3] * 5


@pytest.mark.parametrize("module, name, wrong, checks", [
    (qkv, "attention", over_the_wrong_axis, ["robustness"]),
    (qkv, "attention", blind_to_keys, ["database", "shared_key_value"]),
    (qkv, "attention", always_soft, ["hard_gradient"]),
    (qkv, "softmax", lambda x: x.softmax(-1) ** 2, ["soft_gradient"]),
    (qkv, "lookup_accuracy", knows_all, ["hard_training", "shared_width"]),
    (qkv, "lookup_accuracy", knows_nothing, ["hard_training", "shared_width"]),
    (qkv_symmetry, "previous_accuracy", knows_all, ["previous_token"]),
    (qkv_symmetry, "previous_accuracy", knows_nothing, ["previous_token"]),
    (qkv_symmetry, "attention", lambda q, k, v, causal=False: attention(q, k, v), ["word_order"]),
    (qkv_symmetry, "attention", blind_to_keys, ["tied_scores"]),
    (qkv_minimal, "qk_circuit", lambda w_q, w_k: w_k @ w_q.T, ["gauge"]),
    (qkv_minimal, "_rotated", lambda x: x, ["rotary_gauge"]),
    (qkv_minimal, "attention", lambda q, k, v: (v.square(), None), ["gate"]),
])
def test_a_wrong_part_makes_the_check_fail(module, name, wrong, checks, monkeypatch):
    monkeypatch.setattr(module, name, wrong)
    for check in checks:
        assert not getattr(module, check)().holds, check


def test_wrong_sizes_unback_the_quoted_cut(monkeypatch):
    monkeypatch.setitem(PUBLISHED, "DeepSeek 67B", Published("DeepSeek 67B", 95, 64, 64, 128, 4096, ()))
    assert not qkv_minimal.latent_cache().holds


def test_an_absorbed_form_without_its_scale_is_seen(monkeypatch):
    def unscaled(self, x, mask=None):
        with torch.no_grad():
            self.query.weight.mul_(2)
            out = absorbed(self, x, mask)
            self.query.weight.div_(2)
        return out

    absorbed = LatentAttention.absorbed
    monkeypatch.setattr(LatentAttention, "absorbed", unscaled)
    assert not qkv_minimal.latent_absorbed().holds
