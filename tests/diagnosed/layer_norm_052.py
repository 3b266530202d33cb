import torch


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    acc_dtype = x.dtype
    if acc_dtype == torch.bfloat16:
        acc_dtype = torch.float32
    h = x.to(acc_dtype)
    width = h.size(-1)

    averaging = torch.full((width,), 1.0 / width, dtype=acc_dtype, device=h.device)
    mu = h @ averaging
    deviation = h - mu
    sigma2 = (deviation * deviation) @ averaging
    inv_std = 1.0 / torch.sqrt(sigma2 + eps)

    y = deviation * inv_std
    y = y * gamma.to(acc_dtype)
    y = y + beta.to(acc_dtype)
    return y.to(x.dtype)
