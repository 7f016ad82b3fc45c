"""What a page shows of the models: the committed file alone without them, a part run anew over it with them."""

import pytest
import torch

from attnbook.pretrained import MINILM, SMOLLM2, live, live_or_saved, saved


@pytest.fixture
def there(monkeypatch):
    """Chooses the models that count as installed."""
    return lambda *models: monkeypatch.setattr(live, "installed", models.__contains__)


def never():
    raise AssertionError("a model was asked for")


@pytest.mark.parametrize(("name", "models"), [
    ("encoder", []), ("encoder", [SMOLLM2]), ("prose", [MINILM]), ("streams", [MINILM]), ("streams", [SMOLLM2])],
    ids=lambda x: x if isinstance(x, str) else "+".join(model.name for model in x) or "none")
def test_without_a_model_that_the_file_names_it_is_the_file(there, name, models):
    there(*models)
    assert live_or_saved(name, never) == saved(name)


def test_a_part_lies_over_the_file_and_is_rounded_like_it(there):
    there(SMOLLM2)
    file = saved("prose")
    came = live_or_saved("prose", lambda: {"losses": {"window": [1.23456, torch.tensor(2.00004)]}})
    assert came["losses"]["window"] == [1.2346, 2.0, *file["losses"]["window"][2:]]
    assert came["sinks"] == file["sinks"] and came["losses"]["RoPE off"] == file["losses"]["RoPE off"]
    assert came["model"] == file["model"] and list(came["losses"]) == list(file["losses"])
    assert saved("prose") == file  # nothing of it stays


def test_tensors_lie_over_the_first_rows(there):
    there(MINILM)
    file = saved("encoder")
    came = live_or_saved("encoder", lambda: {"pairs": torch.zeros(2, 4, 72)})["pairs"]
    assert came[:2] == torch.zeros(2, 4, 72).tolist() and came[2:] == file["pairs"][2:]


@pytest.mark.parametrize(("part", "message"), [
    ({"loss": {}}, "prose has no loss; expected some of model, script, losses, sinks"),
    ({"losses": {"widow": []}}, r"prose\['losses'\] has no widow; expected some of as it is"),
    ({"losses": {"window": [0.0] * 7}}, r"prose\['losses'\]\['window'\] has 6 rows; expected at most as many, not 7"),
    ({"losses": {"window": 0.5}}, r"prose\['losses'\]\['window'\] is list; expected the same, not float"),
    ({"losses": {"window": [[0.5]]}}, r"prose\['losses'\]\['window'\]\[0\] is float; expected the same, not list"),
    ({"losses": []}, r"prose\['losses'\] is dict; expected the same, not list"),
])
def test_a_part_that_the_file_does_not_have_is_refused(there, part, message):
    there(SMOLLM2)
    with pytest.raises(ValueError, match=message):
        live_or_saved("prose", lambda: part)
