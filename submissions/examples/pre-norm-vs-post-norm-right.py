import torch
import torch.nn.functional as F


def self_attn(x, n_heads, w_o, b_o, mask):
    B, T, C = x.shape
    if C % n_heads != 0:
        raise ValueError(f"d_model={C} is not divisible by num_heads={n_heads}")
    # no q/k/v projections here, so the heads are just slices of x
    h = x.reshape(B, T, n_heads, C // n_heads).transpose(1, 2)  # B, H, T, hd
    y = F.scaled_dot_product_attention(h, h, h, attn_mask=mask)
    y = y.transpose(1, 2).reshape(B, T, C)
    return F.linear(y, w_o, b_o)


def mlp(x, w1, b1, w2, b2):
    return F.linear(F.gelu(F.linear(x, w1, b1)), w2, b2)


def ln(x, gamma, beta, eps):
    return F.layer_norm(x, (x.shape[-1],), weight=gamma, bias=beta, eps=eps)


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
    # norm only on the branch, residual stays clean
    x = x + self_attn(ln(x, gamma1, beta1, eps), num_heads, weight_o, bias_o, mask)
    return x + mlp(ln(x, gamma2, beta2, eps), ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2)


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
    # add, then norm
    x = ln(x + self_attn(x, num_heads, weight_o, bias_o, mask), gamma1, beta1, eps)
    return ln(x + mlp(x, ffn_weight1, ffn_bias1, ffn_weight2, ffn_bias2), gamma2, beta2, eps)


def stack_pre_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"num_blocks must be >= 0, got {num_blocks}")
    for _ in range(num_blocks):
        x = pre_norm_transformer_block_forward(x, num_heads, **block_params)
    return x


def stack_post_norm_blocks(x, num_heads, block_params, num_blocks):
    if num_blocks < 0:
        raise ValueError(f"num_blocks must be >= 0, got {num_blocks}")
    for _ in range(num_blocks):
        x = post_norm_transformer_block_forward(x, num_heads, **block_params)
    return x


if __name__ == "__main__":
    torch.manual_seed(0)
    d, ff = 8, 16
    p = {
        "weight_o": torch.randn(d, d) / d**0.5,
        "bias_o": torch.zeros(d),
        "ffn_weight1": torch.randn(ff, d) / d**0.5,
        "ffn_bias1": torch.zeros(ff),
        "ffn_weight2": torch.randn(d, ff) / ff**0.5,
        "ffn_bias2": torch.zeros(d),
        "gamma1": torch.ones(d),
        "beta1": torch.zeros(d),
        "gamma2": torch.ones(d),
        "beta2": torch.zeros(d),
    }
    x = torch.randn(2, 5, d)
    for n in (0, 1, 4, 16):
        print(n, stack_pre_norm_blocks(x, 2, p, n).std().item(), stack_post_norm_blocks(x, 2, p, n).std().item())
