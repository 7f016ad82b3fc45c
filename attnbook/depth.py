"""How deep published models are, against a rule of thumb that reads the depth off the size (chapter 5)."""

from dataclasses import dataclass

RULE = ((1.0, 12, 24), (10.0, 24, 48), (100.0, 48, 96), (float("inf"), 96, 120))
"""The chapter we follow: below 1, 10 and 100 billion parameters and above, the fewest and the most layers."""


@dataclass(frozen=True)
class Depth:
    """billions: parameters, all of them; active: those used for one token, where experts share the work.

    reference: key of references.bib that states the numbers.
    """

    name: str
    billions: float
    layers: int
    reference: str
    active: float | None = None


PUBLISHED = (
    Depth("GPT-2 small", 0.124, 12, "radford2019gpt2"),
    Depth("GPT-2 medium", 0.355, 24, "radford2019gpt2"),
    Depth("GPT-2 large", 0.774, 36, "radford2019gpt2"),
    Depth("GPT-2 XL", 1.5, 48, "radford2019gpt2"),
    Depth("GPT-3 1.3B", 1.3, 24, "brown2020gpt3"),
    Depth("GPT-3 6.7B", 6.7, 32, "brown2020gpt3"),
    Depth("GPT-3 13B", 13, 40, "brown2020gpt3"),
    Depth("GPT-3 175B", 175, 96, "brown2020gpt3"),
    Depth("PaLM 540B", 540, 118, "chowdhery2022palm"),
    Depth("BLOOM 176B", 176, 70, "bigscience2022bloom"),
    Depth("LLaMA 7B", 6.7, 32, "touvron2023llama"),
    Depth("LLaMA 13B", 13, 40, "touvron2023llama"),
    Depth("LLaMA 65B", 65.2, 80, "touvron2023llama"),
    Depth("Llama 3 8B", 8, 32, "grattafiori2024llama3"),
    Depth("Llama 3 70B", 70, 80, "grattafiori2024llama3"),
    Depth("Llama 3.1 405B", 405, 126, "grattafiori2024llama3"),
    Depth("Qwen3 0.6B", 0.6, 28, "yang2025qwen3"),
    Depth("Qwen3 1.7B", 1.7, 28, "yang2025qwen3"),
    Depth("Qwen3 4B", 4, 36, "yang2025qwen3"),
    Depth("Qwen3 8B", 8.2, 36, "yang2025qwen3"),
    Depth("Qwen3 14B", 14.8, 40, "yang2025qwen3"),
    Depth("Qwen3 32B", 32.8, 64, "yang2025qwen3"),
    Depth("Qwen3 235B-A22B", 235, 94, "yang2025qwen3", active=22),
    Depth("DeepSeek 67B", 67, 95, "deepseek2024llm"),
    Depth("DeepSeek-V2", 236, 60, "deepseek2024v2", active=21),
    Depth("DeepSeek-V3", 671, 61, "deepseek2024v3", active=37),
)
"""26 published models. Where a paper prints only rounded sizes, so does this table."""


def advised(billions: float) -> tuple[int, int]:
    """Fewest and most layers that the rule of thumb advises for that many billions of parameters.

    Raises ValueError for a size that is not positive.
    """
    if not billions > 0:
        raise ValueError(f"billions is {billions!r}; expected a positive number")
    return next((low, high) for limit, low, high in RULE if billions < limit)


def follows(model: Depth, *, by_active: bool = False) -> bool:
    """Whether the rule covers the model's depth; by_active: size counts only what is used for one token."""
    low, high = advised(model.active if by_active and model.active else model.billions)
    return low <= model.layers <= high
