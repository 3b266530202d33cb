"""Its constants in buffers that no checkpoint holds, one-hot embeddings, more arguments, an error type of its own."""

import torch
from torch import einsum, nn


class PositionError(ValueError):
    """A position that the table doesn't hold."""


class Attention(nn.ModuleDict):
    """The projections are the entries of the dict itself."""

    def __init__(self, d_model, num_heads, dropout):
        super().__init__({f"{name}_proj": nn.Linear(d_model, d_model) for name in "qkvo"})
        self.num_heads = num_heads
        self.drop = nn.Dropout(dropout)

    def forward(self, x, future):
        q, k, v = (self[f"{name}_proj"](x).unflatten(-1, (self.num_heads, -1)) for name in "qkv")
        scores = einsum("bqhe,bkhe->bhqk", q * q.shape[-1] ** -0.5, k)
        weights = self.drop((scores + future[: x.shape[1], : x.shape[1]]).softmax(-1))
        return self["o_proj"](einsum("bhqk,bkhe->bqhe", weights, v).flatten(2))


class Block(nn.Module):
    def __init__(self, d_model, num_heads, d_ff, dropout):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(d_model), Attention(d_model, num_heads, dropout)
        self.norm2, self.mlp = nn.LayerNorm(d_model), nn.Sequential()
        for name, step in (
            *(("fc1", nn.Linear(d_model, d_ff)), ("act", nn.GELU()), ("drop1", nn.Dropout(dropout))),
            *(("fc2", nn.Linear(d_ff, d_model)), ("drop2", nn.Dropout(dropout))),
        ):
            self.mlp.add_module(name, step)

    def forward(self, x, future):
        x = torch.add(x, self.attention(self.norm1(x), future))
        return torch.add(x, self.mlp(self.norm2(x)))


class DecoderOnlyLM(nn.Module):
    future: torch.Tensor
    places: torch.Tensor

    def __init__(
        self, vocab_size, max_len, d_model, d_ff, num_heads, num_blocks, dropout: float = 0.0, *, name="gpt", std=0.02
    ):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(f"d_model={d_model} can't be cut into {num_heads} heads")
        if num_blocks <= -1:
            raise ValueError(f"a stack of {num_blocks} blocks")
        self.name = name
        self.head = nn.Linear(d_model, vocab_size, bias=False)
        self.tokens = nn.Embedding(vocab_size, d_model, _weight=self.head.weight)
        self.tokens.weight = self.head.weight
        self.positions = nn.Embedding(max_len, d_model)
        self.drop = nn.Dropout(dropout)
        self.blocks = nn.ModuleList(Block(d_model, num_heads, d_ff, dropout) for _ in range(num_blocks))
        self.norm = nn.LayerNorm(d_model)
        self.register_buffer("future", torch.full((max_len, max_len), -torch.inf).triu(1), persistent=False)
        self.register_buffer("places", torch.arange(max_len)[None], persistent=False)
        nn.init.normal_(self.head.weight, std=std)
        nn.init.normal_(self.positions.weight, std=std)

    def forward(self, ids: torch.Tensor, offset: int = 0, *_, return_stream: bool = False, **__):
        places = self.places[:, offset : offset + ids.shape[1]] if offset >= 0 else self.places[:, :0]
        if places.shape[1] != ids.shape[1]:
            raise PositionError(f"{ids.shape[1]} tokens do not fit behind offset {offset}")
        chosen = torch.nn.functional.one_hot(ids, self.tokens.num_embeddings).to(self.tokens.weight.dtype)
        x = self.drop(chosen @ self.tokens.weight + self.positions(places))
        for block in self.blocks:
            x = block(x, self.future)
        logits = self.head(self.norm(x))
        return (logits, x) if return_stream else logits
