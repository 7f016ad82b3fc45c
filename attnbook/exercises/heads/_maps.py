"""Shared by exercises that look for a head: maps in which some heads have a job."""

import torch

from attnbook.attention import causal_mask
from attnbook.softmax import softmax


def argmax_head(scores):
    """(layer, head) of the largest of (layers, H) scores."""
    return torch.tensor(divmod(int(scores.argmax()), scores.shape[1]))


def planted(generator, noise, jobs, causal=True):
    """Weights (layers, H, T, T) from noise scores; job k, (queries, keys, extra score), goes to a head of its own.

    The places are drawn so that no usual slip (exchanged, counted from 1) lands on another head with a job.
    """
    layers, heads, T = noise.shape[:3]
    while True:
        cells = [divmod(i, heads) for i in torch.randperm(layers * heads, generator=generator)[:len(jobs)].tolist()]
        layer, head = cells[0]
        if layer != head and not {(head, layer), (layer + 1, head + 1)} & set(cells):
            break
    for (layer, head), (queries, keys, extra) in zip(cells, jobs, strict=True):
        noise[layer, head, queries, keys] += extra
    if causal:
        noise = noise.masked_fill(~causal_mask(T), -torch.inf)
    return softmax(noise)
