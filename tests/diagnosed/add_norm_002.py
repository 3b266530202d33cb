from torch import nn
from torch.nn import functional as F


def check_same_shape(a, b):
    if tuple(a.shape) != tuple(b.shape):
        raise ValueError(f"shapes must be equal, got x {tuple(a.shape)} and sublayer_output {tuple(b.shape)}")


def to_rows(t):
    return t.reshape(-1, t.shape[-1])


class AddNorm(nn.Module):
    def __init__(self, d_model, dropout=0.0):
        super().__init__()
        self.norm = nn.LayerNorm(d_model)
        self.p = dropout
        self.lead = None

    def forward(self, x, sublayer_output):
        check_same_shape(x, sublayer_output)
        if self.lead is None:
            self.lead = tuple(x.shape[:-1])
        kept = F.dropout(sublayer_output, self.p, self.training)
        rows = to_rows(x + kept)
        out = F.layer_norm(rows, (rows.shape[-1],), self.norm.weight, self.norm.bias, 1e-5)
        return out.reshape(*self.lead, rows.shape[-1])
