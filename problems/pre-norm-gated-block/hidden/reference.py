"""Model answer: the pre-norm block of today's language models, and its way to a file and back.

Order of the norms: Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture", figure 1(b). RMSNorm:
Zhang and Sennrich 2019, equation 4. Rotary positions: Su et al. 2021, section 3.4.2, with the two halves of a head as
in GPT-NeoX (Black et al. 2022, section 2.1.1). Gated MLP: Shazeer 2020, "GLU Variants Improve Transformer", equation 6.
"""

import math

import torch
from torch import nn
from torch.nn import functional as F


class RMSNorm(nn.Module):
    """Brings each token to a root mean square of one, then scales its features."""

    def __init__(self, d_model):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x):
        mean_square = x.square().mean(dim=-1, keepdim=True)  # (..., 1)
        inverse = torch.rsqrt(mean_square + 1e-6)
        normalized = x * inverse
        return normalized * self.weight


def rotary_angles(positions, d_head):
    """The angle of each position (seq_len,) and pair of features: (seq_len, d_head / 2), float64."""
    doubled = torch.arange(0, d_head, 2, dtype=torch.float64, device=positions.device)
    frequencies = 10000.0 ** (-doubled / d_head)
    # In float32 the product would be off by thousandths of a turn at position 100,000.
    return positions.to(torch.float64).unsqueeze(1) * frequencies


def rotate(x, positions):
    """x (batch, num_heads, seq_len, d_head): feature j turns together with feature j + d_head / 2."""
    angles = rotary_angles(positions, x.shape[-1])  # (seq_len, d_head / 2)
    cosine = angles.cos().to(x.dtype)
    sine = angles.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    turned_first = first * cosine - second * sine
    turned_second = first * sine + second * cosine
    return torch.cat([turned_first, turned_second], dim=-1)


def masked_softmax(scores, mask=None):
    """Attention weights (batch, num_heads, q_len, k_len); a query that may attend to nothing gets zero weights."""
    if mask is None:
        mask = torch.ones((), dtype=torch.bool, device=scores.device)
    hidden = ~mask
    # Finite, because a fully masked row of minus infinities would be 0 / 0 in the softmax.
    fill = torch.finfo(scores.dtype).min
    scores = scores.masked_fill(hidden, fill)
    weights = torch.softmax(scores, dim=-1)
    return weights.masked_fill(hidden, 0.0)


class RotaryAttention(nn.Module):
    """Self-attention whose queries and keys are turned by their positions; the heads are chunks of the features."""

    def __init__(self, d_model, num_heads, dropout):
        super().__init__()
        self.num_heads = num_heads
        self.d_head = d_model // num_heads
        self.q_proj = nn.Linear(d_model, d_model, bias=False)
        self.k_proj = nn.Linear(d_model, d_model, bias=False)
        self.v_proj = nn.Linear(d_model, d_model, bias=False)
        self.o_proj = nn.Linear(d_model, d_model, bias=False)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, positions, mask=None):
        query = self.split_heads(self.q_proj(x))  # (batch, num_heads, seq_len, d_head)
        key = self.split_heads(self.k_proj(x))
        value = self.split_heads(self.v_proj(x))
        query = rotate(query, positions)
        key = rotate(key, positions)
        scores = query @ key.transpose(-2, -1)  # (batch, num_heads, seq_len, seq_len)
        scores = scores / math.sqrt(self.d_head)
        weights = masked_softmax(scores, mask)
        weights = self.dropout(weights)
        heads = weights @ value
        merged = heads.transpose(1, 2).flatten(2)  # (batch, seq_len, d_model)
        return self.o_proj(merged)

    def split_heads(self, x):
        """(batch, seq_len, d_model) to (batch, num_heads, seq_len, d_head)"""
        heads = x.unflatten(-1, (self.num_heads, self.d_head))
        return heads.transpose(1, 2)


class GatedMLP(nn.Module):
    """down(silu(gate(x)) * up(x)) for each token alone."""

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.gate_proj = nn.Linear(d_model, d_ff, bias=False)
        self.up_proj = nn.Linear(d_model, d_ff, bias=False)
        self.down_proj = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        gate = F.silu(self.gate_proj(x))  # (batch, seq_len, d_ff)
        up = self.up_proj(x)
        hidden = gate * up
        return self.down_proj(hidden)


class PreNormGatedBlock(nn.Module):
    """x + attention(norm1(x)), then x + mlp(norm2(x)): the residual stream itself is never normalized."""

    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"num_heads {num_heads} does not divide d_model {d_model}")
        if d_model // num_heads % 2 != 0:
            raise ValueError(
                f"the head width {d_model // num_heads} is odd: every feature needs a partner to turn with"
            )
        self.config = {"d_model": d_model, "num_heads": num_heads, "d_ff": d_ff, "dropout": dropout}
        self.norm1 = RMSNorm(d_model)
        self.attention = RotaryAttention(d_model, num_heads, dropout)
        self.norm2 = RMSNorm(d_model)
        self.mlp = GatedMLP(d_model, d_ff)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, positions=None, mask=None):
        if positions is None:
            positions = torch.arange(x.shape[1], device=x.device)
        attention_input = self.norm1(x)
        attention_output = self.attention(attention_input, positions, mask)
        attention_output = self.dropout(attention_output)
        x = x + attention_output  # not in place: x belongs to the caller
        mlp_input = self.norm2(x)
        mlp_output = self.mlp(mlp_input)
        mlp_output = self.dropout(mlp_output)
        return x + mlp_output


def save_block(block, path):
    """Write plain numbers and tensors only, so that no reader ever has to run code from the file."""
    state = block.state_dict()
    content = {"config": block.config, "state": state}
    torch.save(content, path)


def load_block(path):
    """The block that save_block wrote, in evaluation mode, of the dtype in which it was saved."""
    content = read_content(path)
    block = made_of(content, path)
    block.eval()
    return block


def read_content(path):
    """What the file holds; ValueError where it can't be read. A missing file stays a FileNotFoundError."""
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError:
        raise
    except Exception as exc:  # bytes can be wrong in more ways than torch.load has errors for
        raise ValueError(f"{path} can't be read as a saved block") from exc


def made_of(content, path):
    """A block of this configuration with these tensors; ValueError where they make none."""
    if not isinstance(content, dict) or content.keys() != {"config", "state"}:
        raise ValueError(f"{path} holds {type(content).__name__}, not what save_block writes")
    try:
        state = content["state"]
        block = PreNormGatedBlock(**content["config"])
        block.to(state["norm1.weight"].dtype)
        block.load_state_dict(state)
        return block
    except (AttributeError, KeyError, RuntimeError, TypeError) as exc:
        raise ValueError(f"{path} holds a configuration and tensors that make no block") from exc
