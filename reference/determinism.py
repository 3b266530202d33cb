"""Oracle: the pre-norm block with the default dropout of the block that is to be repaired."""

from reference.blocks import PreNormBlock


class Block(PreNormBlock):
    """x + attention(norm1(x)), then x + mlp(norm2(x)), x (batch, seq_len, d_model); dropout acts in training only.

    Xiong et al. 2020, "On Layer Normalization in the Transformer Architecture", figure 1(b).
    """

    def __init__(self, d_model, num_heads, d_ff, dropout=0.1):
        super().__init__(d_model, num_heads, d_ff, dropout)
