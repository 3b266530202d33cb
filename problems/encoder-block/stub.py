"""The encoder block of the original transformer: attention and a feed-forward network, each with add and norm."""

from torch import nn


class TransformerEncoderBlock(nn.Module):
    """A post-norm block: y = addnorm1(x, attention(x)), then addnorm2(y, ffn(y)).

    Its state_dict has these keys:
        attention.{q_proj,k_proj,v_proj,o_proj}.weight                                  (d_model, d_model)
        attention.{q_proj,k_proj,v_proj,o_proj}.bias                                    (d_model,)
        addnorm1.norm.weight, addnorm1.norm.bias                                        (d_model,)
        ffn.fc1.weight (d_ff, d_model), ffn.fc1.bias (d_ff,), ffn.fc2.weight (d_model, d_ff), ffn.fc2.bias (d_model,)
        addnorm2.norm.weight, addnorm2.norm.bias                                        (d_model,)
    """

    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        raise NotImplementedError

    def forward(self, x, mask=None):
        """x: (batch, seq_len, d_model); mask: None, (seq_len, seq_len) or 4 dimensions that broadcast to
        (batch, num_heads, seq_len, seq_len), boolean, True = may attend. Returns (batch, seq_len, d_model).
        """
        raise NotImplementedError
