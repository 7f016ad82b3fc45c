"""The depths of published models: enough of them, each with a reference, and the rule applied as printed."""

import pytest

from attnbook.claims.bibliography import references
from attnbook.depth import PUBLISHED, RULE, Depth, advised, follows


def test_at_least_twenty_models_each_with_a_reference_of_the_book():
    assert len({model.name for model in PUBLISHED}) == len(PUBLISHED) >= 20
    assert {model.reference for model in PUBLISHED} <= set(references())


@pytest.mark.parametrize("billions, band", [(0.1, (12, 24)), (1, (24, 48)), (9.9, (24, 48)), (10, (48, 96)),
                                            (99, (48, 96)), (100, (96, 120)), (1e4, (96, 120))])
def test_the_rule_as_printed(billions, band):
    assert advised(billions) == band


def test_the_rule_has_no_gap_and_rises():
    assert [limit for limit, _, _ in RULE] == sorted(limit for limit, _, _ in RULE)
    assert all(low < high for _, low, high in RULE)


def test_active_parameters_count_only_where_asked():
    mixture = Depth("x", 200, 60, "", active=20)
    assert not follows(mixture) and follows(mixture, by_active=True)
    dense = Depth("y", 200, 100, "")
    assert follows(dense) and follows(dense, by_active=True)


def test_a_size_that_is_none_is_refused():
    with pytest.raises(ValueError, match="billions is 0"):
        advised(0)
