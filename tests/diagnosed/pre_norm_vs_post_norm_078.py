import torch
from torch.nn.functional import gelu, layer_norm


def _check_heads(x, num_heads):
    if x.size(2) % num_heads != 0:
        raise ValueError(f"d_model {x.size(2)} does not split into {num_heads} heads")


def _attend(x, num_heads, mask):
    """Self-attention without projections, one sequence and one head after the other."""
    _check_heads(x, num_heads)
    n_batch, n_tokens, width = x.size()
    heads = 1
    size = width // heads
    if mask is None:
        mask = torch.ones(1, 1, dtype=torch.bool, device=x.device)
    mask = mask.expand(n_batch, num_heads, n_tokens, n_tokens)

    sequences = []
    for b in range(n_batch):
        merged = []
        for h in range(heads):
            tokens = x[b, :, h * size : (h + 1) * size]
            visible = mask[b, h]
            scores = torch.matmul(tokens, tokens.t()) * size**-0.5
            scores = torch.where(visible, scores, torch.finfo(scores.dtype).min)
            weights = torch.where(visible, torch.softmax(scores, dim=1), 0.0)
            merged.append(torch.matmul(weights, tokens))
        sequences.append(torch.cat(merged, dim=1))
    return torch.stack(sequences)


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
    d = (x.size(2),)
    normed = layer_norm(x, d, gamma1, beta1, eps)
    x = x + (torch.matmul(_attend(normed, num_heads, mask), weight_o.t()) + bias_o)
    normed = layer_norm(x, d, gamma2, beta2, eps)
    hidden = gelu(torch.matmul(normed, ffn_weight1.t()) + ffn_bias1)
    return x + (torch.matmul(hidden, ffn_weight2.t()) + ffn_bias2)


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
    d = (x.size(2),)
    attended = torch.matmul(_attend(x, num_heads, mask), weight_o.t()) + bias_o
    x = layer_norm(x + attended, d, gamma1, beta1, eps)
    hidden = gelu(torch.matmul(x, ffn_weight1.t()) + ffn_bias1)
    return layer_norm(x + (torch.matmul(hidden, ffn_weight2.t()) + ffn_bias2), d, gamma2, beta2, eps)


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    _check_heads(x, num_heads)
    if num_blocks < 0:
        raise ValueError(f"negative number of blocks: {num_blocks}")
    for _ in range(num_blocks):
        x = pre_norm_transformer_block_forward(x, num_heads, **block_params)
    return x


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    _check_heads(x, num_heads)
    if num_blocks < 0:
        raise ValueError(f"negative number of blocks: {num_blocks}")
    for _ in range(num_blocks):
        x = post_norm_transformer_block_forward(x, num_heads, **block_params)
    return x
