# tries: write, in its backward pass, over the gradient that it is given
# expect: wrong answer
import torch


class Softmax(torch.autograd.Function):
    @staticmethod
    def forward(ctx, scores):
        weights = torch.softmax(scores, -1)
        ctx.save_for_backward(weights)
        return weights

    @staticmethod
    def backward(ctx, gradient):
        (weights,) = ctx.saved_tensors
        gradient.sub_((gradient * weights).sum(-1, keepdim=True))
        return weights * gradient


def solve(x, y):
    return Softmax.apply(x @ y)
