"""A callable object that computes in float64, whatever it is given, and keeps its last weights for a look at them."""
# style: computes in float64, rounds its results, and keeps the last weights for inspection


class Attention:
    def __init__(self):
        self.weights = None

    def __call__(self, query, key, value, mask=None, scale=None):
        wide_query, wide_key, wide_value = query.double(), key.double(), value.double()
        scores = wide_query.matmul(wide_key.transpose(-2, -1))
        scores *= 1 / query.shape[-1] ** 0.5 if scale is None else scale
        if mask is not None:
            scores.masked_fill_(~mask, -1e9)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights * mask.any(dim=-1, keepdim=True)
        output = weights @ wide_value
        self.weights = weights.detach()
        return output.to(query.dtype), weights.to(query.dtype)


scaled_dot_product_attention = Attention()
