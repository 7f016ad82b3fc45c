"""The cost formulas count what the functions do, and the ring's model finds what it was made from."""

import pytest
import torch

from attnbook import costs
from attnbook.attention import attention
from attnbook.linear import linear_attention
from attnbook.meter import count_products, exponent, peak_numbers, saved_numbers, seconds
from attnbook.sparse import sliding_window_attention
from attnbook.tiled import tiled_attention

N, D = 512, 16


@pytest.fixture(scope="module")
def methods():
    q, k, v = torch.randn(3, N, D, generator=torch.Generator().manual_seed(0))
    return {"dense": lambda: attention(q, k, v), "tiled": lambda: tiled_attention(q, k, v, 64, 64),
            "linear": lambda: linear_attention(q, k, v),
            "window": lambda: sliding_window_attention(q, k, v, 64, block=16)}


def test_products_are_what_a_counter_counts(methods):
    for name in ("dense", "tiled"):
        assert count_products(methods[name]) == costs.products(name, N, D)
    assert count_products(methods["linear"]) == pytest.approx(costs.products("linear", N, D), rel=0.1)
    assert count_products(methods["window"]) == pytest.approx(costs.products("window", N, D, window=64), rel=0.2)


def test_numbers_alive_are_of_the_size_of_the_formula(methods):
    peak = {name: peak_numbers(call) - N * D for name, call in methods.items()}  # without the output
    assert 1 <= peak["dense"] / costs.numbers("dense", N, D) < 2.2
    assert peak["tiled"] < 5 * costs.numbers("tiled", N, D, block=64) < peak["dense"] / 10
    assert peak["window"] < 8 * costs.numbers("window", N, D, window=64, block=16)


def test_a_meter_sees_views_once_and_forgets_the_dead():
    assert peak_numbers(lambda: torch.zeros(10).view(2, 5).T) == 10
    assert peak_numbers(lambda: [torch.zeros(10) for _ in range(3)]) == 30
    assert peak_numbers(lambda: [torch.zeros(10).sum() for _ in range(30)]) < 60
    x = torch.zeros(100)
    assert peak_numbers(lambda: x.view(10, 10) + 1) == 100
    assert saved_numbers(lambda: torch.zeros(7, requires_grad=True).exp()) == 7


def test_growth_and_limits():
    assert costs.products("dense", 2e6, 64) / costs.products("dense", 1e6, 64) == 4
    for name in ("window", "sinks", "linear"):
        assert costs.products(name, 2e6, 64) / costs.products(name, 1e6, 64) == 2
    assert costs.products("window", 100, 64, window=256) == costs.products("dense", 100, 64)
    assert costs.products("ring", 1e6, 64, ranks=8) == costs.products("dense", 1e6, 64) / 8
    assert costs.numbers("dense", 1e6, 64) == 1e12 and costs.numbers("tiled", 1e6, 64) < 2e6
    assert costs.breakeven(4096) == 24576
    for call in (costs.products, costs.numbers):
        with pytest.raises(ValueError, match="method is 'magic'"):
            call("magic", 10, 4)


@pytest.mark.parametrize("true", [costs.RingCosts(1e-10, 1e-9, 1e-3), costs.RingCosts(2e-10, 0.0, 1e-4)])
@pytest.mark.parametrize("cores", [1, 2, 8])
def test_the_fit_finds_the_costs_it_was_made_from(true, cores):
    measured = [(n, 64, ranks, true.seconds(n, 64, ranks, cores=cores)) for n in (512, 1024, 2048) for ranks in (1, 2, 3, 4)]
    found = costs.fit_ring(measured, cores)
    assert found.per_product == pytest.approx(true.per_product) and found.per_hop == pytest.approx(true.per_hop)
    assert found.per_byte == pytest.approx(true.per_byte, abs=1e-15)
    assert found.seconds(1e6, 64, 512) < found.seconds(1e6, 64, 8)


def test_no_cost_is_negative_and_no_measurement_is_an_error():
    noisy = [(1000, 64, ranks, seconds) for ranks, seconds in ((1, 1.0), (2, 0.4), (3, 0.3), (4, 0.2))]
    assert min(vars(costs.fit_ring(noisy, 4)).values()) >= 0
    assert costs.fit_ring([(1000, 64, 1, 2.0)], 4).seconds(1000, 64, 1) == pytest.approx(2.0)
    with pytest.raises(ValueError, match="measured is empty"):
        costs.fit_ring([], 2)


@pytest.mark.parametrize("value, kind, words", [(2e12, "size", "2 TB"), (512, "size", "512 B"), (3.2e16, "size", "32 PB"),
                                                (1e9, "time", "31.7 years"), (90, "time", "1.5 min"), (5e-7, "time", "500 ns")])
def test_units_one_can_picture(value, kind, words):
    assert costs.in_words(value, kind) == words


def test_bytes_on_the_ring():
    assert costs.bytes_moved(1000, 64, 1) == 0
    assert costs.bytes_moved(1000, 64, 4) == 3 * 250 * 2 * 64 * 4


def test_the_exponent_of_a_power_is_found_and_time_is_positive():
    assert exponent([10, 20, 40], [3 * n**1.5 for n in (10, 20, 40)]) == pytest.approx(1.5)
    called = []
    assert seconds(lambda: called.append(1), turns=2) >= 0 and len(called) == 2


def test_a_meter_counts_the_same_in_every_run(methods):
    for call in methods.values():
        assert len({peak_numbers(call) for _ in range(4)}) == 1
