"""Oracle: a decoder-only language model on PyTorch's embedding lookup, attention, norm and linear map."""

from __future__ import annotations

from torch import Tensor, nn
from torch.nn import functional as F


class DecoderOnlyLM(nn.Module):
    """GPT-2's assembly with the token embedding as the head.

    Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3; Press and Wolf 2017
    (arXiv 1608.05859) for the tied head. One block equals ``nn.TransformerEncoderLayer(norm_first=True,
    activation="gelu")`` under a causal mask in evaluation. Dropout acts on the sum of the embeddings, on the attention
    weights, after GELU and after fc2.
    """

    def __init__(
        self,
        vocab_size: int,
        max_len: int,
        d_model: int,
        d_ff: int,
        num_heads: int,
        num_blocks: int,
        dropout: float = 0.0,
    ):
        super().__init__()
        if d_model % num_heads or num_blocks < 0:
            raise ValueError(f"d_model {d_model}, num_heads {num_heads} and num_blocks {num_blocks} make no model")
        self.max_len, self.num_heads, self.dropout = max_len, num_heads, dropout
        self.tokens = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_len, d_model)
        self.blocks = nn.ModuleList(_block(d_model, d_ff) for _ in range(num_blocks))
        self.norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids: Tensor, offset: int = 0) -> Tensor:
        """ids (batch, seq_len) int64; gives (batch, seq_len, vocab_size). ValueError for positions off the table."""
        last = offset + ids.shape[-1]
        if not 0 <= offset <= last <= self.max_len:
            raise ValueError(f"positions {offset} to {last - 1} are not all in 0 to {self.max_len - 1}")
        x = self._drop(F.embedding(ids, self.tokens.weight) + self.positions.weight.narrow(0, offset, ids.shape[-1]))
        for block in self.blocks:
            x = x + self._attend(block["attention"], block["norm1"](x))
            hidden = self._drop(F.gelu(block["mlp"]["fc1"](block["norm2"](x))))
            x = x + self._drop(block["mlp"]["fc2"](hidden))
        return F.linear(self.norm(x), self.tokens.weight)

    def _attend(self, maps: nn.ModuleDict, x: Tensor) -> Tensor:
        query, key, value = (
            maps[name](x).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)  # (batch, heads, seq, d_head)
            for name in ("q_proj", "k_proj", "v_proj")
        )
        dropout = self.dropout if self.training else 0.0
        heads = F.scaled_dot_product_attention(query, key, value, dropout_p=dropout, is_causal=True)
        attended: Tensor = maps["o_proj"](heads.transpose(1, 2).flatten(2))
        return attended

    def _drop(self, x: Tensor) -> Tensor:
        return F.dropout(x, self.dropout, self.training)


def _block(d_model: int, d_ff: int) -> nn.ModuleDict:
    projections = {name: nn.Linear(d_model, d_model) for name in ("q_proj", "k_proj", "v_proj", "o_proj")}
    mlp = {"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)}
    return nn.ModuleDict(
        {
            "norm1": nn.LayerNorm(d_model),
            "attention": nn.ModuleDict(projections),
            "norm2": nn.LayerNorm(d_model),
            "mlp": nn.ModuleDict(mlp),
        }
    )
