"""Style: functions over a dictionary of parameters, einsum for the heads, positions as points of the unit circle."""

import torch
import torch.nn.functional as F
from torch import einsum, nn


def tree(shapes):
    """Nested modules that hold one parameter under each dotted name."""
    root = nn.Module()
    for name, shape in shapes.items():
        *path, last = name.split(".")
        module = root
        for part in path:
            if part not in module._modules:
                module.add_module(part, nn.Module())
            module = module._modules[part]
        value = torch.randn(shape) / shape[-1] ** 0.5 if len(shape) > 1 else torch.zeros(shape)
        module.register_parameter(last, nn.Parameter(value + ("norm.weight" in name)))
    return root._modules


def linear(name, out_features, in_features):
    return {f"{name}.weight": (out_features, in_features), f"{name}.bias": (out_features,)}


def block_shapes(attentions, d_model, d_ff):
    shapes = {**linear("ffn.fc1", d_ff, d_model), **linear("ffn.fc2", d_model, d_ff)}
    for number in range(1, len(attentions) + 2):
        shapes |= {f"addnorm{number}.norm.{part}": (d_model,) for part in ("weight", "bias")}
    for attention in attentions:
        for part in "qkvo":
            shapes |= linear(f"{attention}.{part}_proj", d_model, d_model)
    return shapes


class EncoderDecoder(nn.Module):
    def __init__(self, source_vocab, target_vocab, d_model, d_ff, num_heads, num_blocks, dropout=0.0):
        super().__init__()
        if num_blocks < 0:
            raise ValueError(f"num_blocks={num_blocks}")
        if (d_model & 1) or d_model != num_heads * (d_model // num_heads):
            raise ValueError(f"d_model={d_model}, num_heads={num_heads}")
        self.d_model, self.num_heads, self.num_blocks, self.p = d_model, num_heads, num_blocks, dropout
        shapes = {"source_tokens.weight": (source_vocab, d_model), "target_tokens.weight": (target_vocab, d_model)}
        for side, attentions in (("encoder", ["attention"]), ("decoder", ["self_attention", "cross_attention"])):
            for index in range(num_blocks):
                block = block_shapes(attentions, d_model, d_ff)
                shapes |= {f"{side}_blocks.{index}.{name}": shape for name, shape in block.items()}
        shapes |= linear("head", target_vocab, d_model)
        for name, module in tree(shapes).items():
            self.add_module(name, module)

    def drop(self, x):
        return F.dropout(x, self.p, self.training)

    def embed(self, table, ids):
        steps = torch.arange(ids.shape[1], device=ids.device, dtype=torch.float64)
        pairs = torch.arange(self.d_model // 2, device=ids.device, dtype=torch.float64)
        angles = torch.outer(steps, 10000.0 ** (-2 * pairs / self.d_model))
        points = torch.view_as_real(torch.polar(torch.ones_like(angles), angles))  # cosine, sine
        scaled = F.embedding(ids, table) * self.d_model**0.5
        return self.drop(scaled + points.flip(-1).flatten(1).to(scaled.dtype))

    def attend(self, weights, name, stream, memory, mask):
        def heads(part, x):
            weight = weights[f"{name}.{part}_proj.weight"].unflatten(0, (self.num_heads, -1))
            bias = weights[f"{name}.{part}_proj.bias"].unflatten(0, (self.num_heads, 1, -1))
            return einsum("btd,hed->bhte", x, weight) + bias

        q, k, v = heads("q", stream), heads("k", memory), heads("v", memory)
        scores = einsum("bhqe,bhke->bhqk", q, k) * q.shape[-1] ** -0.5
        kept = self.drop(torch.where(mask, scores, -1e30).softmax(-1))
        out = weights[f"{name}.o_proj.weight"].unflatten(1, (self.num_heads, -1))
        return einsum("bhqk,bhke,dhe->bqd", kept, v, out) + weights[f"{name}.o_proj.bias"]

    def add_norm(self, weights, number, x, output):
        gain, bias = weights[f"addnorm{number}.norm.weight"], weights[f"addnorm{number}.norm.bias"]
        return F.layer_norm(x + self.drop(output), gain.shape, gain, bias)

    def ffn(self, weights, x):
        hidden = F.relu(F.linear(x, weights["ffn.fc1.weight"], weights["ffn.fc1.bias"]))
        return F.linear(hidden, weights["ffn.fc2.weight"], weights["ffn.fc2.bias"])

    def blocks(self, side):
        for index in range(self.num_blocks):
            yield dict(self.get_submodule(f"{side}_blocks.{index}").named_parameters())

    def visible(self, lengths, x):
        if lengths is None:
            return x.new_ones((1, 1, 1, x.shape[1]), dtype=torch.bool)
        ones = torch.ones(x.shape[:2], dtype=torch.int64, device=lengths.device)
        return (ones.cumsum(1) <= lengths[:, None])[:, None, None]

    def encode(self, source, source_lengths=None):
        x = self.embed(self.source_tokens.weight, source)
        mask = self.visible(source_lengths, x)
        for weights in self.blocks("encoder"):
            x = self.add_norm(weights, 1, x, self.attend(weights, "attention", x, x, mask))
            x = self.add_norm(weights, 2, x, self.ffn(weights, x))
        return x

    def decode(self, target, encoder_output, source_lengths=None):
        x = self.embed(self.target_tokens.weight, target)
        past = x.new_ones((x.shape[1], x.shape[1]), dtype=torch.bool).tril()
        mask = self.visible(source_lengths, encoder_output)
        for weights in self.blocks("decoder"):
            x = self.add_norm(weights, 1, x, self.attend(weights, "self_attention", x, x, past))
            x = self.add_norm(weights, 2, x, self.attend(weights, "cross_attention", x, encoder_output, mask))
            x = self.add_norm(weights, 3, x, self.ffn(weights, x))
        return F.linear(x, self.head.weight, self.head.bias)

    def forward(self, source, target, source_lengths=None):
        return self.decode(target, self.encode(source, source_lengths), source_lengths)
