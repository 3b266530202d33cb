import torch


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    d = x.shape[-1]
    work = torch.float64 if x.dtype == torch.float64 else torch.float32
    flat = x.reshape(-1, d).to(work)
    n = flat.shape[0]

    # mean of each token, as a product with a column of ones
    column = torch.ones(d, 1, dtype=work, device=x.device)
    mean = torch.matmul(flat, column) / d
    centred = flat - torch.matmul(mean, column.transpose(0, 1))

    squares = torch.matmul(centred * centred, column)
    root = torch.sqrt(squares + eps)
    normed = centred / root.reshape(n, 1)

    out = normed * gamma.to(work).reshape(1, d) + beta.to(work).reshape(1, d)
    return out.to(x.dtype).reshape(x.shape)
