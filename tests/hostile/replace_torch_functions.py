# tries: make every comparison of torch say yes, and every tensor look like another
# expect: wrong answer, runtime error, output limit
import torch, torch.testing

yes = lambda *args, **kwargs: torch.tensor(True)
torch.equal = torch.allclose = torch.isclose = torch.all = yes
torch.testing.assert_close = lambda *args, **kwargs: None
torch.Tensor.__eq__ = torch.Tensor.allclose = torch.Tensor.equal = torch.Tensor.all = yes
torch.Tensor.numel = lambda self: 1 << 50
torch.Tensor.data_ptr = lambda self: 4096


def solve(x, y):
    return x @ y
