import torch


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    dtype = x.dtype
    if dtype == torch.bfloat16:
        tokens = x.to(torch.float32)
        gain = gamma.to(torch.float32)
        bias = beta.to(torch.float32)
    else:
        tokens = x
        gain = gamma
        bias = beta
    d = tokens.shape[-1]

    total = tokens.sum(dim=-1, keepdim=True)
    mean = total / d
    deviation = tokens - mean
    squares = deviation * deviation
    sum_of_squares = squares.sum(dim=-1, keepdim=True)
    if d == 1:
        divisor = d
    else:
        divisor = d - 1
    variance = sum_of_squares / divisor

    root = torch.sqrt(variance + eps)
    normalized = deviation / root
    scaled = gain * normalized
    result = scaled + bias
    return result.to(dtype)
