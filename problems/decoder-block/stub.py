"""The decoder block of the original transformer: causal self-attention, cross-attention and a feed-forward network."""

from torch import nn


class TransformerDecoderBlock(nn.Module):
    """A post-norm block with three sublayers, each with its add and norm.

    Its state_dict has these keys:
        {self_attention,cross_attention}.{q_proj,k_proj,v_proj,o_proj}.weight           (d_model, d_model)
        {self_attention,cross_attention}.{q_proj,k_proj,v_proj,o_proj}.bias             (d_model,)
        {addnorm1,addnorm2,addnorm3}.norm.weight, {addnorm1,addnorm2,addnorm3}.norm.bias (d_model,)
        ffn.fc1.weight (d_ff, d_model), ffn.fc1.bias (d_ff,), ffn.fc2.weight (d_model, d_ff), ffn.fc2.bias (d_model,)
    """

    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        raise NotImplementedError

    def forward(self, x, encoder_output, self_mask=None, cross_mask=None):
        """x: (batch, target_len, d_model); encoder_output: (batch, source_len, d_model). Masks are boolean, True = may
        attend, None or of 2 or 4 dimensions: self_mask broadcasts to (batch, num_heads, target_len, target_len) and
        is combined with the causal mask, cross_mask to (batch, num_heads, target_len, source_len).
        Returns (batch, target_len, d_model).
        """
        raise NotImplementedError
