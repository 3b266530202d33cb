"""Add and norm: what stands around each sublayer of a post-norm block."""

from torch import nn


class AddNorm(nn.Module):
    """LayerNorm(x + dropout(sublayer_output)).

    Its state_dict has the keys norm.weight and norm.bias, each (d_model,).
    """

    def __init__(self, d_model, dropout=0.0):
        super().__init__()
        raise NotImplementedError

    def forward(self, x, sublayer_output):
        """x and sublayer_output: (..., d_model), of one shape; else a ValueError. Returns (..., d_model)."""
        raise NotImplementedError
