import torch


def rms_norm_forward(x, gamma, eps=1e-6):
    # more digits for bfloat16
    if x.dtype == torch.bfloat16:
        x_work = x.float()
        gamma_work = gamma.float()
    else:
        x_work = x
        gamma_work = gamma

    # the root mean square of each token
    squared = x_work**2
    mean_squared = torch.mean(squared, dim=-1, keepdim=True)
    root_mean_square = torch.sqrt(mean_squared + eps)

    # apply the gain
    x_scaled = gamma_work * x_work
    x_normed = x_scaled / root_mean_square
    result = gamma_work * x_normed

    result = result.to(x.dtype)
    return result
