"""Plain functions and plain loops: what every token should become is worked out for itself, query by query."""

import math

import torch

D_MODEL, D_FF, HEADS = 6, 9, 2
ORDERS = ("pre", "post")


def new(*shape):
    return torch.randn(shape, dtype=torch.float64)


def new_params(d_model=D_MODEL):
    params = {"weight_o": new(d_model, d_model), "bias_o": new(d_model)}
    params.update(ffn_weight1=new(D_FF, d_model), ffn_bias1=new(D_FF), ffn_weight2=new(d_model, D_FF))
    params.update(ffn_bias2=new(d_model), gamma1=new(d_model) + 1.5, beta1=new(d_model))
    params.update(gamma2=new(d_model) - 1.5, beta2=new(d_model))
    return params


def norm(token, gamma, beta, eps):
    centered = token - token.sum() / len(token)
    return gamma * centered / torch.sqrt(centered @ centered / len(token) + eps) + beta


def attend(tokens, i, heads, sees, p):
    size = tokens.shape[1] // heads
    parts = []
    for h in range(heads):
        keys = [token[h * size : (h + 1) * size] for token in tokens]
        scores = {j: keys[i] @ keys[j] / math.sqrt(size) for j in range(len(keys)) if sees(h, i, j)}
        highest = max((score.item() for score in scores.values()), default=0.0)
        shares = {j: torch.exp(score - highest) for j, score in scores.items()}
        parts.append(sum((shares[j] * keys[j] for j in shares), 0 * keys[i]) / sum(shares.values(), 0 if shares else 1))
    return p["weight_o"] @ torch.cat(parts) + p["bias_o"]


def feed(token, p):
    hidden = p["ffn_weight1"] @ token + p["ffn_bias1"]
    return p["ffn_weight2"] @ (hidden * torch.special.ndtr(hidden)) + p["ffn_bias2"]


def one_block(order, tokens, heads, sees, p, eps):
    def norm1(token):
        return norm(token, p["gamma1"], p["beta1"], eps)

    def norm2(token):
        return norm(token, p["gamma2"], p["beta2"], eps)

    everyone = range(len(tokens))
    if order == "pre":
        read = torch.stack([norm1(token) for token in tokens])
        middle = [tokens[i] + attend(read, i, heads, sees, p) for i in everyone]
        return torch.stack([token + feed(norm2(token), p) for token in middle])
    middle = [norm1(tokens[i] + attend(tokens, i, heads, sees, p)) for i in everyone]
    return torch.stack([norm2(token + feed(token, p)) for token in middle])


def right(order, x, p, mask=None, eps=1e-5, heads=HEADS, depth=1):
    batch, seq_len, _ = x.shape
    full = torch.ones(1).bool() if mask is None else mask
    table = full.expand(batch, heads, seq_len, seq_len).tolist()
    sequences = []
    for b in range(batch):
        tokens = x[b]
        for _ in range(depth):
            tokens = one_block(order, tokens, heads, lambda h, i, j, b=b: table[b][h][i][j], p, eps)
        sequences.append(tokens)
    return torch.stack(sequences)


def block(impl, order):
    return impl.pre_norm_transformer_block_forward if order == "pre" else impl.post_norm_transformer_block_forward


def stack(impl, order):
    return impl.stack_pre_norm_blocks if order == "pre" else impl.stack_post_norm_blocks


def same(got, wanted, tolerance=1e-8):
    assert tuple(got.shape) == tuple(wanted.shape), "another shape"
    assert got.dtype is wanted.dtype, "another dtype"
    assert torch.isfinite(got).all(), "something that is not finite"
    distance = torch.linalg.vector_norm(got - wanted) / torch.linalg.vector_norm(wanted)
    assert distance < tolerance, f"off by {distance:.1e}"


def same_gradients(one, other, inputs):
    cotangent = new(*one.shape)
    for got, wanted in zip(
        torch.autograd.grad(one, inputs, cotangent), torch.autograd.grad(other, inputs, cotangent), strict=True
    ):
        assert torch.linalg.vector_norm(got - wanted) < 1e-7 * (1 + torch.linalg.vector_norm(wanted))


def masks():
    some = torch.rand(2, HEADS, 3, 3) < 0.5
    some[0, 0, 1] = False
    some[1, :, 2] = torch.tensor([True, False, False])
    shifted = torch.tensor([[1, 1, 0], [0, 1, 0], [0, 0, 0]]).bool()
    return [shifted, some, some[:1], shifted[1:2], torch.zeros(2, 1, 1, 1).bool()]


def test_both_blocks(impl):
    for order in ORDERS:
        x, p = new(2, 3, D_MODEL) + 0.5, new_params()
        for tensor in (x, *p.values()):
            tensor.requires_grad_()
        got, wanted = block(impl, order)(x, HEADS, **p), right(order, x, p)
        same(got.detach(), wanted.detach())
        same_gradients(got, wanted, [x, *p.values()])


def test_both_blocks_with_masks(impl):
    for order in ORDERS:
        for mask in masks():
            x, p = new(2, 3, D_MODEL) + 0.5, new_params()
            for tensor in (x, *p.values()):
                tensor.requires_grad_()
            got, wanted = block(impl, order)(x, HEADS, **p, mask=mask), right(order, x, p, mask)
            same(got.detach(), wanted.detach())
            same_gradients(got, wanted, [x, *p.values()])


def test_three_sequences_of_three_tokens(impl):
    lower = torch.tensor([[1, 0, 0], [1, 1, 0], [1, 1, 1]]).bool()
    for order in ORDERS:
        x, p = new(3, 3, D_MODEL), new_params()
        same(block(impl, order)(x, HEADS, **p, mask=lower), right(order, x, p, lower))


def test_every_small_size(impl):
    for order in ORDERS:
        for batch, seq_len, d_model, heads in [(3, 1, 6, 2), (1, 3, 6, 6), (1, 1, 2, 1), (2, 2, 8, 4), (4, 3, 3, 1)]:
            x, p = new(batch, seq_len, d_model), new_params(d_model)
            same(block(impl, order)(x, heads, **p), right(order, x, p, heads=heads))


def test_a_stream_between_other_numbers(impl):
    for order in ORDERS:
        x, p = new(3, 2, 2 * D_MODEL).transpose(0, 1)[..., ::2], new_params()
        same(block(impl, order)(x, HEADS, **p), right(order, x, p))


def test_eps(impl):
    for order in ORDERS:
        for size, eps in [(1.0, 0.8), (0.01, 1e-4), (0.01, 1e-12)]:
            x, p = size * new(2, 3, D_MODEL), new_params()
            same(block(impl, order)(x, HEADS, **p, eps=eps), right(order, x, p, eps=eps))
        x, p = 0.002 * new(2, 3, D_MODEL), new_params()
        p["weight_o"], p["bias_o"] = 0.002 * p["weight_o"], 0.002 * p["bias_o"]
        same(block(impl, order)(x, HEADS, **p), right(order, x, p))


def test_large_numbers(impl):
    p = new_params()
    x = 70 * new(1, 3, D_MODEL)
    same(impl.post_norm_transformer_block_forward(x, HEADS, **p), right("post", x, p))
    x = torch.stack([x[0, 0], -x[0, 0], x[0, 2]])[None]
    opposite = torch.tensor([[0, 1, 0], [1, 0, 0], [1, 1, 1]]).bool()
    same(impl.post_norm_transformer_block_forward(x, HEADS, **p, mask=opposite), right("post", x, p, opposite))


def test_far_from_zero(impl):
    for order in ORDERS:
        x, p, blind = new(2, 3, D_MODEL), new_params(), torch.zeros(1, 1).bool()
        got = block(impl, order)(x + 1e6, HEADS, **p, mask=blind)
        wanted = right(order, x + 1e6, p, blind)
        offset = 1e6 if order == "pre" else 0.0
        same(got - offset, wanted - offset, 1e-6)


def test_dtypes(impl):
    for order in ORDERS:
        for dtype, tolerance in [(torch.float32, 1e-3), (torch.bfloat16, 5e-2)]:
            x, p = new(2, 3, 12).to(dtype), {name: (value / 4).to(dtype) for name, value in new_params(12).items()}
            wanted = right(order, x.double(), {name: value.double() for name, value in p.items()})
            for got in (block(impl, order)(x, HEADS, **p), stack(impl, order)(x, HEADS, p, 1)):
                assert got.dtype == dtype
                assert (got.double() - wanted).abs().max() < tolerance * wanted.abs().max()


def test_depths(impl):
    lower = torch.tensor([[1, 0, 0], [1, 1, 0], [1, 1, 1]]).bool()
    for order in ORDERS:
        for depth in (0, 1, 3):
            for options in [{}, {"mask": lower, "eps": 0.05}]:
                x, p = new(2, 3, D_MODEL).requires_grad_(), new_params()
                got = stack(impl, order)(x, HEADS, {**p, **options}, depth)
                wanted = right(order, x, p, **options, depth=depth)
                same(got.detach(), wanted.detach())
                same_gradients(got, wanted, [x])


def test_arguments_are_only_read(impl):
    for order in ORDERS:
        x, mask = new(2, 3, D_MODEL), torch.ones(3, 3).tril().bool()
        params = {**new_params(), "mask": mask}
        before = {name: value.clone() for name, value in [("x", x), *params.items()]}
        block(impl, order)(x, HEADS, **params)
        stack(impl, order)(x, HEADS, params, 2)
        after = dict([("x", x), *params.items()])
        assert list(after) == list(before)
        assert all((after[name] == before[name]).all() for name in before)


def refuses(function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except ValueError:
        return True
    return False


def test_errors(impl):
    for order in ORDERS:
        x, p = new(2, 3, D_MODEL), new_params()
        assert refuses(block(impl, order), x, 4, **p)
        assert refuses(stack(impl, order), x, 4, p, 2)
        assert refuses(stack(impl, order), x, HEADS, p, -1)
