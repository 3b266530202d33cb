import torch


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    original = x.dtype
    if original not in (torch.float64, torch.float32):
        x = x.float()
    features = x.shape[-1]
    ones = x.new_ones(features, 1)

    mean = torch.matmul(x, ones).squeeze() / features
    x_centred = x - mean.unsqueeze(-1)

    variance = torch.matmul(x_centred.square(), ones) / features  # (..., 1)
    scale = (variance + eps).rsqrt()
    gain = gamma.to(x.dtype)
    bias = beta.to(x.dtype)
    return (x_centred * scale * gain + bias).to(original)
