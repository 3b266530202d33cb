import math

import torch


def root_mean_square(stream):
    numbers = stream.detach().to(torch.float64)
    squares = numbers * numbers
    mean = squares.mean()
    root = torch.sqrt(mean)
    return root.item()


def residual_stream_norms(x, blocks):
    result = []
    with torch.no_grad():
        current = x
        result.append(root_mean_square(current))
        for block in blocks:
            current = block(current)
            result.append(root_mean_square(current))
    return torch.tensor(result, dtype=torch.float64)


def gradient_norms(x, blocks, loss_fn):
    with torch.enable_grad():
        # every block gets a fresh leaf, so that the graph is cut into pieces
        inputs = []
        outputs = []
        current = x.detach()
        for block in blocks:
            leaf = current.detach().clone()
            leaf.requires_grad_(True)
            output = block(leaf)
            inputs.append(leaf)
            outputs.append(output)
            current = output
        last = current.detach().clone()
        last.requires_grad_(True)
        loss = loss_fn(last)

        # backward, piece by piece
        if loss.requires_grad:
            gradient = torch.autograd.grad(loss, last, allow_unused=True)[0]
        else:
            gradient = None
        if gradient is None:
            gradient = torch.zeros_like(last)
        gradients = [gradient]
        for i in reversed(range(len(inputs))):
            leaf = inputs[i]
            output = outputs[i]
            new_gradient = None
            if output.requires_grad:
                new_gradient = torch.autograd.grad(output, leaf, grad_outputs=gradient, allow_unused=True)[0]
            if new_gradient is None:
                new_gradient = torch.zeros_like(leaf)
            gradient = new_gradient
            gradients.append(gradient)
    gradients.reverse()

    result = []
    for gradient in gradients:
        squares = gradient.detach().to(torch.float64) ** 2
        result.append(math.sqrt(squares.sum().item()))
    return torch.tensor(result, dtype=torch.float64)


def growth_exponent(norms):
    numbers = []
    for norm in norms:
        numbers.append(float(norm))
    if len(numbers) < 3:
        raise ValueError("at least 3 norms are needed, but there are " + str(len(numbers)))

    log_depths = []
    log_norms = []
    for depth in range(1, len(numbers)):
        norm = numbers[depth]
        if math.isnan(norm) or math.isinf(norm) or norm <= 0:
            raise ValueError("the norm " + str(norm) + " has no logarithm")
        log_depths.append(math.log10(depth))
        log_norms.append(math.log(norm))

    n = len(log_depths)
    mean_depth = sum(log_depths) / n
    mean_norm = sum(log_norms) / n
    numerator = 0.0
    denominator = 0.0
    for i in range(n):
        depth_difference = log_depths[i] - mean_depth
        norm_difference = log_norms[i] - mean_norm
        numerator = numerator + depth_difference * norm_difference
        denominator = denominator + depth_difference * depth_difference
    slope = numerator / denominator
    return slope
