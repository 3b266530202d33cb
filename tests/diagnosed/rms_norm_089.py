import torch


def _rms(token, eps):
    return torch.sqrt(torch.mean(token * token))


def rms_norm_forward(x, gamma, eps=1e-6):
    dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
    d = x.shape[-1]
    tokens = x.to(dtype).reshape(-1, d)
    gain = gamma.to(dtype)
    rows = []
    for i in range(tokens.shape[0]):
        token = tokens[i]
        rows.append(gain * token / _rms(token, eps))
    if len(rows) == 0:
        return torch.zeros_like(x)
    return torch.stack(rows).reshape(x.shape).to(x.dtype)
