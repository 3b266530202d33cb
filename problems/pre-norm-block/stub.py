"""The pre-norm block: x + attention(norm1(x)), then x + mlp(norm2(x))."""

from torch import nn


class PreNormBlock(nn.Module):
    """A transformer block that normalizes the input of each sublayer.

    Its state_dict has these keys:
        norm1.weight, norm1.bias                                                        (d_model,)
        attention.{q_proj,k_proj,v_proj,o_proj}.weight                                  (d_model, d_model)
        attention.{q_proj,k_proj,v_proj,o_proj}.bias                                    (d_model,)
        norm2.weight, norm2.bias                                                        (d_model,)
        mlp.fc1.weight (d_ff, d_model), mlp.fc1.bias (d_ff,), mlp.fc2.weight (d_model, d_ff), mlp.fc2.bias (d_model,)
    """

    def __init__(self, d_model, num_heads, d_ff, dropout=0.0):
        super().__init__()
        raise NotImplementedError

    def forward(self, x, mask=None):
        """x: (batch, seq_len, d_model); mask: None, (seq_len, seq_len) or 4 dimensions that broadcast to
        (batch, num_heads, seq_len, seq_len), boolean, True = may attend. Returns (batch, seq_len, d_model).
        """
        raise NotImplementedError
