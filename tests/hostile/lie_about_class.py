# tries: return an object that says it is a tensor, equal to everything
# expect: wrong answer, runtime error
import torch


class Yes:
    __class__ = torch.Tensor

    def __eq__(self, other):
        return True

    def __getattr__(self, name):
        return lambda *args, **kwargs: self

    shape = dtype = layout = property(lambda self: self)
    __hash__ = __bool__ = __len__ = __int__ = lambda self: 1


def solve(x, y):
    return Yes()
