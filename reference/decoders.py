"""Oracle: the decoder block and the encoder-decoder on PyTorch's own multi-head attention and layer normalization."""

import torch
from torch import nn
from torch.nn import functional as F

from reference.blocks import AddNorm, TransformerEncoderBlock
from reference.positions import add_positions


class TransformerDecoderBlock(nn.Module):
    """The post-norm block of the original decoder: causal self-attention, cross-attention, feed-forward network.

    Equal to ``nn.TransformerDecoderLayer(norm_first=False, activation="relu")`` in evaluation. Vaswani et al. 2017
    (arXiv 1706.03762), figure 1 and section 3.2.3; Prince, "Understanding Deep Learning", section 12.8. Dropout acts
    on both attentions' weights and in each AddNorm.
    """

    def __init__(self, d_model, d_ff, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} is no multiple of num_heads {num_heads}")
        self.num_heads = num_heads
        self.dropout = dropout
        self.self_attention = _projections(d_model)
        self.addnorm1 = AddNorm(d_model, dropout)
        self.cross_attention = _projections(d_model)
        self.addnorm2 = AddNorm(d_model, dropout)
        self.ffn = nn.ModuleDict({"fc1": nn.Linear(d_model, d_ff), "fc2": nn.Linear(d_ff, d_model)})
        self.addnorm3 = AddNorm(d_model, dropout)

    def forward(self, x, encoder_output, self_mask=None, cross_mask=None):
        """x (batch, target_len, d_model), encoder_output (batch, source_len, d_model); gives x's shape.

        Masks are boolean or None, True = may attend. ValueError for an encoder_output of another width.
        """
        if encoder_output.size(-1) != x.size(-1):
            raise ValueError(f"encoder_output {tuple(encoder_output.shape)} is not as wide as x, {x.size(-1)}")
        later = torch.ones(x.size(1), x.size(1), dtype=torch.bool, device=x.device).triu(1)
        hidden = later if self_mask is None else later | ~self_mask
        x = self.addnorm1(x, self._attend(self.self_attention, x, x, hidden))
        hidden = None if cross_mask is None else ~cross_mask
        x = self.addnorm2(x, self._attend(self.cross_attention, x, encoder_output, hidden))
        return self.addnorm3(x, self.ffn["fc2"](F.relu(self.ffn["fc1"](x))))

    def _attend(self, layers, stream, memory, hidden):
        batch, q_len, d_model = stream.shape
        if hidden is not None:
            hidden = hidden.expand(batch, self.num_heads, q_len, memory.size(1)).flatten(0, 1)
        attended, _ = F.multi_head_attention_forward(
            stream.transpose(0, 1),
            *(memory.transpose(0, 1),) * 2,
            embed_dim_to_check=d_model,
            num_heads=self.num_heads,
            in_proj_weight=torch.cat([layers[name].weight for name in ("q_proj", "k_proj", "v_proj")]),
            in_proj_bias=torch.cat([layers[name].bias for name in ("q_proj", "k_proj", "v_proj")]),
            bias_k=None,
            bias_v=None,
            add_zero_attn=False,
            dropout_p=self.dropout,
            out_proj_weight=layers["o_proj"].weight,
            out_proj_bias=layers["o_proj"].bias,
            training=self.training,
            need_weights=False,  # with weights, a query that may attend to nothing becomes NaN
            attn_mask=hidden,
        )
        return attended.transpose(0, 1)


class EncoderDecoder(nn.Module):
    """Source ids to encoder output, target ids and encoder output to logits; post-norm blocks, nothing tied.

    Vaswani et al. 2017 (arXiv 1706.03762), figure 1 and section 3.4: embeddings times sqrt(d_model), plus sinusoidal
    positions, then dropout.
    """

    def __init__(self, source_vocab, target_vocab, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        if num_blocks < 0:
            raise ValueError(f"num_blocks {num_blocks} is negative")
        if d_model % 2:
            raise ValueError(f"d_model {d_model} is odd")
        if d_model % num_heads:
            raise ValueError(f"d_model {d_model} is no multiple of num_heads {num_heads}")
        self.dropout = dropout
        self.source_tokens = nn.Embedding(source_vocab, d_model)
        self.target_tokens = nn.Embedding(target_vocab, d_model)
        sizes = (d_model, d_ff, num_heads, dropout)
        self.encoder_blocks = nn.ModuleList(TransformerEncoderBlock(*sizes) for _ in range(num_blocks))
        self.decoder_blocks = nn.ModuleList(TransformerDecoderBlock(*sizes) for _ in range(num_blocks))
        self.head = nn.Linear(d_model, target_vocab)

    def forward(self, source, target, source_lengths=None):
        """source (batch, source_len) and target (batch, target_len) int64; logits (batch, target_len, target_vocab)."""
        return self.decode(target, self.encode(source, source_lengths), source_lengths)

    def encode(self, source, source_lengths=None):
        """source (batch, source_len), source_lengths (batch,) or None; gives (batch, source_len, d_model)."""
        mask = _inside(source_lengths, source.size(1))
        x = self._embed(self.source_tokens.weight, source)
        for block in self.encoder_blocks:
            x = block(x, mask)
        return x

    def decode(self, target, encoder_output, source_lengths=None):
        """target (batch, target_len), encoder_output (batch, source_len, d_model); logits for each target position."""
        mask = _inside(source_lengths, encoder_output.size(1))
        x = self._embed(self.target_tokens.weight, target)
        for block in self.decoder_blocks:
            x = block(x, encoder_output, cross_mask=mask)
        return self.head(x)

    def _embed(self, table, ids):
        scaled = F.embedding(ids, table) * table.size(1) ** 0.5
        return F.dropout(add_positions(scaled), self.dropout, self.training)


def _projections(d_model: int) -> nn.ModuleDict:
    return nn.ModuleDict({f"{name}_proj": nn.Linear(d_model, d_model) for name in "qkvo"})


def _inside(lengths: torch.Tensor | None, seq_len: int) -> torch.Tensor | None:
    """True at the positions that lengths (batch,) count, (batch, 1, 1, seq_len)."""
    if lengths is None:
        return None
    return (torch.arange(seq_len, device=lengths.device) < lengths[:, None])[:, None, None]
