# tries: a tensor subclass that lies about shape, size, place in memory and everything torch asks it
# expect: wrong answer, runtime error, output limit, memory limit
import torch


class Liar(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name in ("data_ptr", "numel", "element_size"):
            return 1 << 40
        if name in ("detach", "contiguous", "resolve_conj", "resolve_neg"):
            return args[0]
        return super().__torch_function__(function, types, args, kwargs or {})

    shape = property(lambda self: torch.Size((1 << 40, 1 << 40)))
    dtype = property(lambda self: torch.float64)


def solve(x, y):
    return (x @ y).detach().as_subclass(Liar)
