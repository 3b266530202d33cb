"""A stack of transformer blocks in pre-norm or post-norm order, which can show its residual stream."""

from torch import nn


class BlockStack(nn.Module):
    """``num_blocks`` blocks one after the other and, in pre-norm order only, a final norm.

    Its state_dict has these keys, i from 0 to num_blocks - 1:
        blocks.{i}.norm1.weight, blocks.{i}.norm1.bias                                  (d_model,)
        blocks.{i}.attention.{q_proj,k_proj,v_proj,o_proj}.weight                       (d_model, d_model)
        blocks.{i}.attention.{q_proj,k_proj,v_proj,o_proj}.bias                         (d_model,)
        blocks.{i}.norm2.weight, blocks.{i}.norm2.bias                                  (d_model,)
        blocks.{i}.mlp.fc1.weight (d_ff, d_model), blocks.{i}.mlp.fc1.bias (d_ff,)
        blocks.{i}.mlp.fc2.weight (d_model, d_ff), blocks.{i}.mlp.fc2.bias (d_model,)
        norm.weight, norm.bias, only with norm_first                                    (d_model,)
    """

    def __init__(self, num_blocks, d_model, num_heads, d_ff, norm_first=True):
        super().__init__()
        raise NotImplementedError

    def forward(self, x, mask=None, return_stream=False):
        """x: (batch, seq_len, d_model); mask: None, (seq_len, seq_len) or 4 dimensions that broadcast to
        (batch, num_heads, seq_len, seq_len), boolean, True = may attend. Returns (batch, seq_len, d_model) or, with
        return_stream, a tuple of that and the list of num_blocks + 1 streams, each (batch, seq_len, d_model).
        """
        raise NotImplementedError
