"""Two norms over channels: batch normalization, which remembers, and group normalization, which doesn't."""

import torch  # noqa: F401


def batch_norm_forward(x, gamma, beta, running_mean, running_var, training, momentum=0.1, eps=1e-5):
    """Normalize every channel over the batch, or by the running values.

    Args:
        x: (batch, channels) or (batch, channels, length).
        gamma, beta: (channels,), the gain and bias of each channel.
        running_mean, running_var: (channels,), left as they are.
        training: normalize by the batch's statistics and update the running values, or normalize by the running values.
        momentum: the weight of the batch in the new running values.
        eps: positive number that is added to the variance.

    Returns:
        (y, new_running_mean, new_running_var): y like x, the others (channels,).
    """
    raise NotImplementedError


def group_norm_forward(x, num_groups, gamma, beta, eps=1e-5):
    """Normalize every example's groups of consecutive channels, each over its channels and positions.

    Args:
        x: (batch, channels, ...), any number of further axes, also none.
        num_groups: how many groups the channels are divided into; a ValueError if it doesn't divide them.
        gamma, beta: (channels,), the gain and bias of each channel.
        eps: positive number that is added to the variance.

    Returns:
        A tensor of the shape and dtype of x.
    """
    raise NotImplementedError
