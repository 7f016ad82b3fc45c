"""Say which models are installed and whole: python -m attnbook.pretrained. Ends with 1 if one is not."""

import importlib.util
import sys

from attnbook.pretrained.files import MEND, MINILM, SMOLLM2, ModelMissing, libraries, locate


def main() -> int:
    good = True
    for model in (MINILM, SMOLLM2):
        try:
            libraries(model)
            print(f"{model.name}: {locate(model)[model.weights]}")
        except ModelMissing as missing:
            good = False
            print(missing)
    if importlib.util.find_spec("transformers") is None:
        good = False
        print(f"transformers, which the tests compare with, is not installed: {MEND}.")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
