# tries: not an attack: an optimizer and a checkpoint, which import torch._dynamo when they are first used
# expect: accepted
import torch
import torch.utils.checkpoint


def solve(x, y):
    parameter = torch.nn.Parameter(x.detach().clone())
    optimizer = torch.optim.AdamW([parameter], lr=0.0)
    torch.utils.checkpoint.checkpoint(lambda t: t.sum(), parameter, use_reentrant=False).backward()
    optimizer.step()
    return torch.softmax(x @ y, -1)
