import torch


def rms_norm_forward(x, gamma, eps=1e-6):
    d = x.shape[-1]
    wide = torch.promote_types(x.dtype, torch.float32)
    tokens = x.to(wide).reshape(-1, 1, d)

    mean = torch.matmul(tokens, tokens.new_full((d, 1), 1.0 / d))
    tokens = tokens - mean

    dot = torch.matmul(tokens, tokens.transpose(1, 2))  # (n, 1, 1)
    inverse = torch.rsqrt(dot / d + eps)
    normed = torch.matmul(inverse, tokens)
    result = normed * gamma.to(wide).reshape(1, 1, d)
    return result.reshape(x.shape).to(x.dtype)
