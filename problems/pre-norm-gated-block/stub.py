"""The pre-norm gated block of today's language models, and its way to a file and back."""

from torch import nn


class PreNormGatedBlock(nn.Module):
    """x + attention(norm1(x)) with rotary positions, then x + mlp(norm2(x)) with a gated MLP; no biases.

    Its state_dict has these keys:
        norm1.weight, norm2.weight                                  (d_model,)
        attention.{q_proj,k_proj,v_proj,o_proj}.weight              (d_model, d_model)
        mlp.gate_proj.weight, mlp.up_proj.weight                    (d_ff, d_model)
        mlp.down_proj.weight                                        (d_model, d_ff)
    """

    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        raise NotImplementedError

    def forward(self, x, positions=None, mask=None):
        """x: (batch, seq_len, d_model); positions: None for 0 .. seq_len - 1, or (seq_len,) integers; mask: None,
        (seq_len, seq_len) or 4 dimensions that broadcast to (batch, num_heads, seq_len, seq_len), boolean,
        True = may attend. Returns (batch, seq_len, d_model).
        """
        raise NotImplementedError


def save_block(block, path):
    """Write the block with all that is needed to make it again to one file at path, a str or os.PathLike."""
    raise NotImplementedError


def load_block(path):
    """The block that save_block wrote to path, in evaluation mode; ValueError where the file holds none."""
    raise NotImplementedError
