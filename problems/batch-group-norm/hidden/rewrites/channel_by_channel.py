"""Plain loops over channels, examples and groups, and stacks."""

import torch


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    columns, means, variances = [], [], []
    for channel, values in enumerate(x.unbind(1)):  # (batch,) or (batch, length)
        n = values.numel()
        old_mean, old_var = running_mean[channel], running_var[channel]
        if training:
            mean = values.sum() / n
            squares = ((values - mean) ** 2).sum()
            variance = squares / n
            means.append(old_mean + momentum * (mean - old_mean))
            variances.append(old_var + momentum * (squares / (n - 1) - old_var))
        else:
            mean, variance = old_mean, old_var
        columns.append((values - mean) / torch.sqrt(variance + eps) * gamma[channel] + beta[channel])
    y = torch.stack(columns, 1)
    if training:
        return y, torch.stack(means), torch.stack(variances)
    return y, running_mean.clone(), running_var.clone()


def group_norm_forward(x, num_groups, gamma, beta, eps=1e-5):
    if x.shape[1] % num_groups:
        raise ValueError(f"can't divide {x.shape[1]} channels into {num_groups} groups")
    size = x.shape[1] // num_groups
    examples = []
    for example in x:
        groups = []
        for start in range(0, len(example), size):
            group = example[start : start + size]
            deviations = group - group.sum() / group.numel()
            root = ((deviations * deviations).sum() / group.numel() + eps) ** 0.5
            for offset, channel in enumerate(deviations):
                groups.append(channel / root * gamma[start + offset] + beta[start + offset])
        examples.append(torch.stack(groups))
    return torch.stack(examples)
