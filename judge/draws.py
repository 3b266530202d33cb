"""Draws of good inputs: the good choice is the easy one.

All tensors are float64. Weights have entries of about ``gain / sqrt(fan_in)``, gains are ``1 + 0.5 * normal`` and
biases ``0.5 * normal``: fresh parameters (gain 1, bias 0) would hide swapped and forgotten ones.
"""

from __future__ import annotations

import hashlib

import torch
from torch import Tensor


def case_generator(seed: int, problem: str, case: str) -> torch.Generator:
    """The generator of one case: the same seed, problem and case draw the same inputs, whatever else runs."""
    digest = hashlib.sha256(f"{seed}/{problem}/{case}".encode()).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest[:8], "little") >> 1)


class Draw:
    """Draws from one case's own generator."""

    def __init__(self, generator: torch.Generator):
        self._generator = generator

    def normal(self, *shape: int) -> Tensor:
        """Standard normal entries."""
        return torch.randn(shape, generator=self._generator, dtype=torch.float64)

    def stream(self, *shape: int) -> Tensor:
        """A residual stream with mean 3 and spread 2: a forgotten or misplaced centring shows."""
        return 2 * self.normal(*shape) + 3

    def uniform(self, low: float, high: float, *shape: int) -> Tensor:
        """Uniform entries in [low, high)."""
        return low + (high - low) * torch.rand(shape, generator=self._generator, dtype=torch.float64)

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """int64 entries in [low, high)."""
        return torch.randint(low, high, shape, generator=self._generator)

    def integer(self, low: int, high: int) -> int:
        """One int in [low, high)."""
        return int(self.integers(low, high, 1))

    def permutation(self, count: int) -> Tensor:
        """The numbers 0 .. count - 1 in random order."""
        return torch.randperm(count, generator=self._generator)

    def gain(self, d: int) -> Tensor:
        """A norm's gain, (d,)."""
        return 1 + 0.5 * self.normal(d)

    def bias(self, d: int) -> Tensor:
        """A bias, (d,)."""
        return 0.5 * self.normal(d)

    def weight(self, out_features: int, in_features: int, gain: float = 1.0) -> Tensor:
        """A linear map's weight, (out_features, in_features), entries of about gain / sqrt(in_features)."""
        return self.normal(out_features, in_features).mul(gain / in_features**0.5)

    def linear(
        self, key: str, out_features: int, in_features: int, bias: bool = True, gain: float = 1.0
    ) -> dict[str, Tensor]:
        """The state of a linear map under ``key``."""
        state = {f"{key}.weight": self.weight(out_features, in_features, gain)}
        return {**state, f"{key}.bias": self.bias(out_features)} if bias else state

    def norm(self, key: str, d: int, bias: bool = True) -> dict[str, Tensor]:
        """The state of a norm under ``key``: random gain and, for a LayerNorm, bias."""
        state = {f"{key}.weight": self.gain(d)}
        return {**state, f"{key}.bias": self.bias(d)} if bias else state

    def mask(self, *shape: int, hidden_rows: int = 0) -> Tensor:
        """A boolean mask, True = may attend: every row sees at least one key and, if there are two, misses one.

        ``hidden_rows`` randomly chosen rows may attend to nothing.
        """
        keys = shape[-1]
        mask = torch.rand(shape, generator=self._generator) < 0.6
        rows = mask.view(-1, keys)
        visible = self.integers(0, keys, len(rows), 1)
        rows.scatter_(1, visible, True)
        if keys > 1:
            rows.scatter_(1, (visible + self.integers(1, keys, len(rows), 1)) % keys, False)
        rows[self.permutation(len(rows))[:hidden_rows]] = False
        return mask

    def mask_forms(self, batch: int, heads: int, q_len: int, k_len: int) -> dict[str, Tensor]:
        """Masks of every form that broadcasts to (batch, heads, q_len, k_len), by names: rank 2 or 4, any dimension 1.

        A row of each is hidden. The last ones have other strides: transposed, and expanded from one sequence and head.
        """
        pairs = [(q, k) for q in (q_len, 1) for k in (k_len, 1)]
        fours = [(b, h, *pair) for b in (batch, 1) for h in (heads, 1) for pair in pairs]
        shapes = dict.fromkeys(shape for shape in (*pairs, *fours))
        forms = {f"a mask {shape}": self.mask(*shape, hidden_rows=1) for shape in shapes}
        forms["a transposed mask"] = self.mask(batch, heads, k_len, q_len, hidden_rows=1).transpose(-2, -1)
        forms["an expanded mask"] = self.mask(q_len, k_len, hidden_rows=1).expand(batch, heads, q_len, k_len)
        return forms

    def noncontiguous(self, tensor: Tensor) -> Tensor:
        """The same values as every second feature, from the second, of a wider tensor; those between are noise."""
        wide = self.normal(*tensor.shape[:-1], 2 * tensor.shape[-1])
        wide[..., 1::2] = tensor
        return wide[..., 1::2]

    def transposed(self, tensor: Tensor) -> Tensor:
        """The same values with the first two dimensions swapped in memory."""
        return tensor.transpose(0, 1).contiguous().transpose(0, 1)

    def expanded(self, tensor: Tensor, count: int) -> Tensor:
        """``count`` copies along a new first dimension, all in the same memory (stride 0)."""
        return tensor.unsqueeze(0).expand(count, *tensor.shape)
