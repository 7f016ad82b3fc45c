"""Ring attention across real processes: equal to one process, forward and backward, and no process left behind."""

import multiprocessing
import subprocess
import sys

import pytest
import ring_ranks
import torch
import torch.distributed as dist

from attnbook.attention import attention
from attnbook.distributed import owners, ring_attention, shard_positions, visible_pairs, work_shares
from attnbook.launch import RankError, joined, run_ranks
from attnbook.ring_report import gathered, ring_report


@pytest.fixture(scope="module")
def answers():
    """One start of four ranks for all cases; smaller rings are groups of them."""
    return run_ranks(ring_ranks.all_cases, 4, limit=120)


@pytest.mark.parametrize("world, n", ring_ranks.CASES)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("order", ["contiguous", "zigzag"])
def test_the_ring_equals_one_process_forward_and_backward(answers, world, n, causal, order):
    for rank in range(world):
        assert answers[rank][world, n, causal, order, "torch.float64"] < 1e-12
        assert answers[rank][world, n, causal, order, "torch.float32"] < 1e-5


def test_a_ring_of_one_sends_nothing(answers):
    assert answers[0]["sent by one"] == 0


def test_a_rank_outside_the_group_is_told_so(answers):
    assert answers[0]["refused"] == ""
    assert all("group does not hold this process" in answers[rank]["refused"] for rank in (1, 2, 3))


@pytest.mark.parametrize("function, args, words", [
    (ring_ranks.fails_on, (1,), "rank 1 failed.*a forced error"), (ring_ranks.dies_on, (1,), "rank [01] "),
    (ring_ranks.sleeps, (), r"no answer from ranks \[0, 1\] within 1 s")])
def test_a_failing_rank_ends_all_and_leaves_no_process(function, args, words):
    with pytest.raises(RankError, match="(?s)" + words):
        run_ranks(function, 2, *args, limit=1 if function is ring_ranks.sleeps else 30)
    assert multiprocessing.active_children() == []


def test_torchrun_starts_the_ring():
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local_addr", "localhost",
               "--nproc_per_node", "2", "-m", "attnbook.ring_report"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n"))[-2:] == [
        f"rank {rank} of 2: within 1e-5 of one process: True" for rank in (0, 1)]


def test_the_report_names_rings_and_lengths():
    first, second = run_ranks(ring_report, 2, (16,))
    assert set(first["seconds"]) == {(16, 1), (16, 2)} and set(second["seconds"]) == {(16, 2)}
    assert max(first["difference"].values()) < 1e-12 and min(first["seconds"].values()) > 0
    both = gathered([first, second])
    assert set(both["seconds"][16]) == {1, 2}
    assert both["seconds"][16][2] == max(r["seconds"][16, 2] for r in (first, second))


# -- in this process: a ring of one -------------------------------------------------------

@pytest.fixture
def alone(tmp_path):
    with joined(init_method=f"file://{tmp_path / 'meet'}", rank=0, world_size=1):
        yield


def test_gradients_of_a_ring_of_one(alone):
    q, k, v = (torch.randn(1, 5, d, dtype=torch.float64, requires_grad=True) for d in (3, 3, 2))
    for causal in (False, True):
        assert torch.autograd.gradcheck(lambda *x: ring_attention(*x, causal), (q, k, v))


@pytest.mark.parametrize("dtype, tolerance", [(torch.float16, 3e-3), (torch.bfloat16, 2.5e-2)])
def test_half_precision_goes_in_and_comes_out(alone, dtype, tolerance):
    q, k, v = torch.randn(3, 9, 8).to(dtype)
    out = ring_attention(q, k, v, True)
    assert out.dtype == dtype
    assert torch.allclose(out.double(), attention(q.double(), k.double(), v.double(), causal=True)[0], atol=tolerance)


def test_a_long_shard_is_cut_into_tiles(alone, monkeypatch):
    monkeypatch.setattr("attnbook.distributed.BLOCK", 4)
    q, k, v = torch.randn(3, 11, 8, dtype=torch.float64)
    for causal in (False, True):
        assert torch.allclose(ring_attention(q, k, v, causal), attention(q, k, v, causal=causal)[0], atol=1e-12)


@pytest.mark.parametrize("change, words", [
    ({"k": torch.zeros(4, 2), "v": torch.zeros(4, 2)}, "k has shape"), ({"q": torch.zeros(3, 2).long()}, "q is a int64"),
    ({"v": torch.zeros(3, 2).double()}, "mixed dtypes"), ({"positions": torch.arange(2)}, "positions is")])
def test_what_does_not_fit_is_refused_before_anything_is_sent(alone, change, words):
    given = {"q": torch.zeros(3, 2), "k": torch.zeros(3, 2), "v": torch.zeros(3, 2)} | change
    with pytest.raises((TypeError, ValueError), match=words):
        ring_attention(**given)


# -- who holds what -----------------------------------------------------------------------

@pytest.mark.parametrize("order", ["contiguous", "zigzag"])
@pytest.mark.parametrize("n, world", [(10, 4), (3, 4), (8, 1), (0, 3), (4096, 8)])
def test_every_place_has_one_owner_and_shares_differ_by_two_at_most(n, world, order):
    shards = [shard_positions(n, rank, world, order) for rank in range(world)]
    assert torch.cat(shards).sort().values.tolist() == list(range(n))
    assert max(map(len, shards)) - min(map(len, shards)) <= 2
    assert all(shard.tolist() == sorted(shard.tolist()) for shard in shards)


def test_zigzag_balances_a_causal_mask():
    n, world = 4096, 8
    total = n * (n + 1) // 2
    shares = {order: [visible_pairs(shard_positions(n, r, world, order), n) / total for r in range(world)]
              for order in ("contiguous", "zigzag")}
    assert min(shares["contiguous"]) < 0.016 and max(shares["contiguous"]) > 0.234
    assert max(shares["zigzag"]) - min(shares["zigzag"]) < 1e-3
    assert sum(shares["zigzag"]) == pytest.approx(1)


def test_owners_and_shares_of_work():
    assert owners(8, 2, "contiguous") == [0, 0, 0, 0, 1, 1, 1, 1] and owners(8, 2) == [0, 0, 1, 1, 1, 1, 0, 0]
    assert work_shares(8, 2) == [0.5, 0.5] and work_shares(8, 2, "contiguous", causal=False) == [0.5, 0.5]
    assert work_shares(8, 2, "contiguous") == pytest.approx([10 / 36, 26 / 36])


@pytest.mark.parametrize("wrong", [{"n": -1}, {"rank": 1.0}, {"world": 0}, {"order": "random"}])
def test_shards_out_of_range_are_refused(wrong):
    with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
        shard_positions(**{"n": 4, "rank": 0, "world": 2} | wrong)


def test_the_number_of_ranks_is_checked():
    with pytest.raises(ValueError, match="world is 0"):
        run_ranks(ring_ranks.sleeps, 0)
    assert not dist.is_initialized()
