import torch
import torch.nn.functional as F


def sublayers(x, num_heads, wo, bo, w1, b1, w2, b2, g1, n1, g2, n2, mask=None, eps=1e-5):
    if x.shape[-1] % num_heads:
        raise ValueError(f"{num_heads=} does not divide d_model={x.shape[-1]}")

    def attn(y):
        q = y.unflatten(-1, (num_heads, -1)).transpose(1, 2)
        s = q @ q.mT / q.shape[-1] ** 0.5
        if mask is None:
            p = s.softmax(-1)
        else:
            p = s.masked_fill(~mask, torch.finfo(s.dtype).min).softmax(-1).masked_fill(~mask, 0)
        return F.linear((p @ q).transpose(1, 2).flatten(2), wo, bo)

    return (
        (attn, lambda y: F.layer_norm(y, y.shape[-1:], g1, n1, eps)),
        (lambda y: F.linear(F.gelu(F.linear(y, w1, b1)), w2, b2), lambda y: F.layer_norm(y, y.shape[-1:], g2, n2, eps)),
    )


def pre_norm_transformer_block_forward(x, num_heads, weight_o, bias_o, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2,
                                       gamma1, beta1, gamma2, beta2, mask=None, eps=1e-5):
    for f, norm in sublayers(x, num_heads, weight_o, bias_o, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2,
                             gamma1, beta1, gamma2, beta2, mask, eps):
        x = x + f(norm(x))
    return x


def post_norm_transformer_block_forward(x, num_heads, weight_o, bias_o, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2,
                                        gamma1, beta1, gamma2, beta2, mask=None, eps=1e-5):
    for f, norm in sublayers(x, num_heads, weight_o, bias_o, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2,
                             gamma1, beta1, gamma2, beta2, mask, eps):
        x = norm(x + f(x))
    return x


def stack(block, x, num_heads, params, n):
    if n < 0 or x.shape[-1] % num_heads:
        raise ValueError(f"num_blocks={n}, {num_heads=}, d_model={x.shape[-1]}")
    for _ in range(n + 1):
        x = block(x, num_heads, **params)
    return x


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    return stack(pre_norm_transformer_block_forward, x, num_heads, block_params, num_blocks)


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    return stack(post_norm_transformer_block_forward, x, num_heads, block_params, num_blocks)
