"""Encoder and decoder are GRUs; with attention, each sound also reads all letters. That reading is the only difference.

    letters -> GRU both ways -> states (T, 2d) -> the last two -> decoder's first state -> GRU -> sounds
                                    '------------ attention ------------------------------^
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from attnbook.attention import attention, padding_mask
from attnbook.recurrent import gru, gru_step, last_real_state
from attnbook.tasks.spelling.words import END, SOUNDS, START

WIDTH, LONGEST = 96, 24  # width of a state; most sounds that are written


class Cell(nn.Module):
    """The weights of a GRU as attnbook.recurrent takes them."""

    def __init__(self, d_in: int, d: int):
        super().__init__()
        self.w_ih = nn.Parameter(torch.empty(3 * d, d_in).uniform_(-1, 1) / d ** 0.5)
        self.w_hh = nn.Parameter(torch.empty(3 * d, d).uniform_(-1, 1) / d ** 0.5)
        self.b_ih, self.b_hh = nn.Parameter(torch.zeros(3 * d)), nn.Parameter(torch.zeros(3 * d))

    @property
    def weights(self):
        return self.w_ih, self.w_hh, self.b_ih, self.b_hh


class SpellingModel(nn.Module):
    """Logits of the next sound: letters (B, T), lengths (B,), earlier sounds (B, S) -> logits (B, S, V), weights.

    attends: whether a sound may read the letters again. Without, weights are None.
    """

    def __init__(self, attends: bool, width: int = WIDTH):
        super().__init__()
        self.attends, size = attends, len(SOUNDS) + 2
        self.letter, self.sound = nn.Embedding(27, width), nn.Embedding(size, width)
        self.forth, self.back, self.decoder = Cell(width, width), Cell(width, width), Cell(width, width)
        self.bridge, self.read_out = nn.Linear(2 * width, width), nn.Linear(3 * width if attends else width, size)
        self.key = nn.Linear(2 * width, width, bias=False) if attends else None

    def forward(self, ids, lengths, earlier):
        states, h = self.encode(ids, lengths)
        decoded, _ = gru(self.sound(earlier), h, *self.decoder.weights)  # (B, S, d)
        return self._answer(decoded, states, lengths)

    def encode(self, ids: Int[Tensor, "B T"], lengths: Int[Tensor, "B"]
               ) -> tuple[Float[Tensor, "B T 2d"], Float[Tensor, "B d"]]:
        """The states of all letters, read in both directions, and the one vector that the decoder starts from."""
        x, zero = self.letter(ids), self.letter.weight.new_zeros(self.letter.embedding_dim)
        turned = _turned(ids.shape[1], lengths)[..., None].expand_as(x)
        forth, _ = gru(x, zero, *self.forth.weights)
        back, _ = gru(x.gather(1, turned), zero, *self.back.weights)
        ends = torch.cat([last_real_state(forth, lengths), last_real_state(back, lengths)], -1)
        return torch.cat([forth, back.gather(1, turned)], -1), torch.tanh(self.bridge(ends))

    def _answer(self, decoded, states, lengths):
        """The one difference: what is read out beside the decoder's own state."""
        if not self.attends:
            return self.read_out(decoded), None
        mask = padding_mask(lengths, states.shape[1])
        context, weights = attention(decoded, self.key(states), states, mask=mask)
        return self.read_out(torch.cat([decoded, context], -1)), weights

    @torch.no_grad()
    def say(self, ids: Int[Tensor, "B T"], lengths: Int[Tensor, "B"]) -> tuple[Int[Tensor, "B S"], Tensor | None]:
        """The likeliest sound at each step, fed back; and the weights (B, S, T) that each sound gave to the letters."""
        states, h = self.encode(ids, lengths)
        sound, said, maps = torch.full_like(lengths, START), [], []
        while len(said) < LONGEST and not (said and (torch.stack(said) == END).any(0).all()):
            h = gru_step(h, self.sound(sound), *self.decoder.weights)
            logits, weights = self._answer(h[:, None], states, lengths)
            sound = logits[:, 0].argmax(-1)
            said.append(sound)
            maps.append(weights)
        return torch.stack(said, 1), torch.cat(maps, 1) if self.attends else None


def _turned(T, lengths):
    """Index that turns each word round within its own length and leaves the padding where it is."""
    places = torch.arange(T)
    back = lengths[:, None] - 1 - places
    return torch.where(back >= 0, back, places)
