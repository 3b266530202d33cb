"""Model answer: the residual add and the norm after it.

Vaswani et al. 2017, "Attention Is All You Need" (arXiv 1706.03762), sections 3.1 and 5.4: LayerNorm(x + Sublayer(x)),
with dropout on each sublayer's output before it is added.
"""

from torch import nn


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout=0.0):
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.norm = nn.LayerNorm(d_model, eps=1e-5)

    def forward(self, x, sublayer_output):
        # Checked, because the add would broadcast: one token's output would reach all tokens without a word.
        if x.shape != sublayer_output.shape:
            raise ValueError(f"x has shape {tuple(x.shape)} but sublayer_output {tuple(sublayer_output.shape)}")
        dropped = self.dropout(sublayer_output)  # never x: the residual path stays whole
        total = x + dropped  # (..., d_model), a new tensor: both operands belong to the caller
        return self.norm(total)
