import torch


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    original_dtype = x.dtype
    if original_dtype == torch.bfloat16:
        x = x.float()
        gamma = gamma.float()
        beta = beta.float()
        old_mean = running_mean.float()
        old_var = running_var.float()
    else:
        old_mean = running_mean
        old_var = running_var

    # bring the channels to the last axis
    channels_last = x.movedim(1, -1)
    number_of_channels = channels_last.shape[-1]
    table = channels_last.reshape(-1, number_of_channels)
    n = table.shape[0]

    if training:
        batch_mean = table.mean(dim=0)
        deviation = table - batch_mean
        sum_of_squares = (deviation ** 2).sum(dim=0)
        biased_variance = sum_of_squares / n
        unbiased_variance = sum_of_squares / (n - 1)
        new_mean = (1 - momentum) * old_mean + momentum * batch_mean
        new_var = (1 - momentum) * old_var + momentum * unbiased_variance
        new_mean = new_mean.to(original_dtype)
        new_var = new_var.to(original_dtype)
    else:
        deviation = table - old_mean
        biased_variance = old_var
        new_mean = running_mean
        new_var = running_var

    root = torch.sqrt(biased_variance + eps)
    normalized = deviation / root
    scaled = gamma * normalized
    shifted = scaled + beta
    back = shifted.reshape(channels_last.shape)
    y = back.movedim(-1, 1)
    y = y.to(original_dtype)
    return y, new_mean, new_var


def group_norm_forward(x, num_groups, gamma, beta, eps=1e-5):
    original_shape = x.shape
    original_dtype = x.dtype
    batch_size = original_shape[0]
    number_of_channels = original_shape[1]
    remainder = number_of_channels % num_groups
    if remainder != 0:
        raise ValueError("num_groups = " + str(num_groups) + " does not divide " + str(number_of_channels))
    if original_dtype == torch.bfloat16:
        x = x.float()
        gamma = gamma.float()
        beta = beta.float()

    groups = x.reshape(batch_size, num_groups, -1)
    group_mean = groups.mean(dim=2, keepdim=True)
    deviation = groups - group_mean
    squared = deviation ** 2
    group_variance = squared.mean(dim=2, keepdim=True)
    root = torch.sqrt(group_variance + eps)
    normalized_groups = deviation / root
    normalized = normalized_groups.reshape(original_shape)

    scaled = normalized * gamma
    shifted = scaled + beta
    result = shifted.to(original_dtype)
    return result
