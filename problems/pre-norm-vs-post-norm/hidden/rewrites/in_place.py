"""Style: in-place arithmetic on temporaries of its own, preallocated results, and out-of-place only where x is read."""

import torch
import torch.nn.functional as F


def _norm(x, gamma, beta, eps):
    centered = x.clone().sub_(x.mean(-1, keepdim=True))
    scale = centered.pow(2).mean(-1, keepdim=True).add_(eps).sqrt_().reciprocal()
    return torch.addcmul(beta, centered * scale, gamma)


def _attention(x, num_heads, weight_o, bias_o, mask):
    batch, seq_len, width = x.shape
    if width % num_heads > 0:
        raise ValueError(f"width {width}, num_heads {num_heads}: no whole number of features for each head")
    d_head = width // num_heads
    mixed = x.new_zeros(batch, seq_len, width)
    for start in range(0, width, d_head):
        chunk = x.narrow(-1, start, d_head)
        scores = torch.bmm(chunk, chunk.mT).mul_(d_head**-0.5)
        if mask is None:
            weights = scores.softmax(-1)
        else:
            head = start // d_head
            visible = mask if mask.dim() == 2 else mask[:, min(head, mask.shape[1] - 1)]
            blocked = ~visible.expand(batch, seq_len, seq_len)
            scores.masked_fill_(blocked, float("-inf"))
            weights = scores.softmax(-1).masked_fill(blocked, 0)
        mixed[..., start : start + d_head] += torch.bmm(weights, chunk)
    return F.linear(mixed, weight_o).add_(bias_o)


def _mlp(x, weight1, bias1, weight2, bias2):
    hidden = F.linear(x, weight1).add_(bias1)
    return F.linear(F.gelu(hidden), weight2).add_(bias2)


def pre_norm_transformer_block_forward(
    x,
    num_heads,
    weight_o,
    bias_o,
    ffn_weight1,
    ffn_bias1,
    ffn_weight2,
    ffn_bias2,
    gamma1,
    beta1,
    gamma2,
    beta2,
    mask=None,
    eps=1e-5,
):
    stream = _attention(_norm(x, gamma1, beta1, eps), num_heads, weight_o, bias_o, mask)
    stream += x
    branch = _mlp(_norm(stream, gamma2, beta2, eps), ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)
    branch += stream
    return branch


def post_norm_transformer_block_forward(
    x,
    num_heads,
    weight_o,
    bias_o,
    ffn_weight1,
    ffn_bias1,
    ffn_weight2,
    ffn_bias2,
    gamma1,
    beta1,
    gamma2,
    beta2,
    mask=None,
    eps=1e-5,
):
    stream = _attention(x, num_heads, weight_o, bias_o, mask)
    stream += x
    stream = _norm(stream, gamma1, beta1, eps)
    branch = _mlp(stream, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)
    branch += stream
    return _norm(branch, gamma2, beta2, eps)


def _stack(block, x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"num_blocks must be at least 0 and is {num_blocks}")
    streams = [x]
    for depth in range(num_blocks):
        streams.append(block(streams[depth], num_heads, **block_params))
    return streams[-1]


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    return _stack(pre_norm_transformer_block_forward, x, num_heads, block_params, num_blocks)


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    return _stack(post_norm_transformer_block_forward, x, num_heads, block_params, num_blocks)
