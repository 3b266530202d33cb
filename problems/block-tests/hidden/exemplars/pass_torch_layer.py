"""The oracle is PyTorch's own encoder layer with identity projections; what it can't say is tested by relations."""

import copy

import pytest
import torch
from torch import nn

HEADS, D_MODEL, D_FF = 2, 8, 11


def random_layer(norm_first, eps=1e-5):
    layer = nn.TransformerEncoderLayer(
        D_MODEL, HEADS, D_FF, 0.0, "gelu", eps, batch_first=True, norm_first=norm_first, dtype=torch.float64
    )
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_(std=0.6)
        layer.norm1.weight.add_(1.2)
        layer.norm2.weight.add_(0.8)
        layer.self_attn.in_proj_weight.copy_(torch.eye(D_MODEL).repeat(3, 1))
        layer.self_attn.in_proj_bias.zero_()
    return layer


def params_of(layer):
    return {
        "weight_o": layer.self_attn.out_proj.weight,
        "bias_o": layer.self_attn.out_proj.bias,
        "ffn_weight1": layer.linear1.weight,
        "ffn_bias1": layer.linear1.bias,
        "ffn_weight2": layer.linear2.weight,
        "ffn_bias2": layer.linear2.bias,
        "gamma1": layer.norm1.weight,
        "beta1": layer.norm1.bias,
        "gamma2": layer.norm2.weight,
        "beta2": layer.norm2.bias,
    }


def hidden_from(mask, batch, seq_len):
    """PyTorch's mask: (batch * heads, query, key), True = hidden."""
    return None if mask is None else ~mask.expand(batch, HEADS, seq_len, seq_len).flatten(0, 1)


def functions(impl, norm_first):
    if norm_first:
        return impl.pre_norm_transformer_block_forward, impl.stack_pre_norm_blocks
    return impl.post_norm_transformer_block_forward, impl.stack_post_norm_blocks


def stream(*shape):
    return torch.randn(*(shape or (3, 5, D_MODEL)), dtype=torch.float64) + 0.5


def check(got, wanted, tolerance=1e-7):
    torch.testing.assert_close(got, wanted, rtol=tolerance, atol=tolerance * float(wanted.abs().max()))


@pytest.fixture(params=[True, False], ids=["pre", "post"])
def norm_first(request):
    return request.param


MASKS = {
    "none": None,
    "causal": torch.ones(5, 5).tril().bool(),
    "padding": (torch.arange(5) < torch.tensor([5, 2, 3])[:, None])[:, None, None],
    "heads": torch.stack([torch.ones(5, 5).tril(), torch.ones(5, 5).triu()])[None].bool(),
    "everything": (torch.arange(150).reshape(3, 2, 5, 5) % 7 < 4) | torch.eye(5).bool(),
}


@pytest.mark.parametrize("mask", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize(("depth", "eps"), [(1, None), (1, 0.9), (3, None), (2, 0.9)])
def test_values_and_gradients(impl, norm_first, mask, eps, depth):
    layer, x, cotangent = random_layer(norm_first, 1e-5 if eps is None else eps), stream(), stream()
    x.requires_grad_()
    wanted = x
    for _ in range(depth):
        wanted = layer(wanted, hidden_from(mask, 3, 5))
    options = {name: value for name, value in {"mask": mask, "eps": eps}.items() if value is not None}
    block, stack = functions(impl, norm_first)
    params = params_of(layer)
    results = [stack(x, HEADS, {**params, **options}, depth)]
    if depth == 1:
        results.append(block(x, HEADS, **params, **options))
    inputs = [x, *params.values()]
    wanted_gradients = torch.autograd.grad(wanted, inputs, cotangent)
    for got in results:
        check(got.detach(), wanted.detach())
        for one, other in zip(torch.autograd.grad(got, inputs, cotangent), wanted_gradients, strict=True):
            check(one, other)


def test_a_square_batch(impl, norm_first):
    layer, x, causal = random_layer(norm_first), stream(4, 4, D_MODEL), torch.ones(4, 4).tril().bool()
    with torch.no_grad():
        got = functions(impl, norm_first)[0](x, HEADS, **params_of(layer), mask=causal)
        check(got, layer.train()(x, ~causal))


def test_a_token_that_sees_nothing_gets_the_bias_alone(impl, norm_first):
    """Its result is that of a block whose weight_o is 0, and so are the gradients."""
    block, _ = functions(impl, norm_first)
    params = params_of(random_layer(norm_first))
    blind = {**params, "weight_o": torch.zeros(D_MODEL, D_MODEL, dtype=torch.float64)}
    mask = torch.ones(5, 5).tril().bool()
    mask[3] = False
    x, cotangent = stream().requires_grad_(), torch.zeros(3, 5, D_MODEL, dtype=torch.float64)
    cotangent[:, 3] = torch.randn(D_MODEL, dtype=torch.float64)
    got, wanted = block(x, HEADS, **params, mask=mask), block(x, HEADS, **blind)
    check(got.detach()[:, 3], wanted.detach()[:, 3])
    names = ["bias_o", "ffn_weight1", "ffn_bias1", "ffn_weight2", "ffn_bias2", "gamma2", "beta2"]
    inputs = [x, *[params[name] for name in names]]
    pairs = zip(
        torch.autograd.grad(got, inputs, cotangent), torch.autograd.grad(wanted, inputs, cotangent), strict=True
    )
    for one, other in pairs:
        check(one, other)


def test_a_stream_of_no_blocks(impl, norm_first):
    x = stream()
    check(functions(impl, norm_first)[1](x, HEADS, params_of(random_layer(norm_first)), 0), x.clone())


def test_one_token_and_one_sequence(impl, norm_first):
    layer = random_layer(norm_first).train()
    with torch.no_grad():
        for shape in [(3, 1, D_MODEL), (1, 4, D_MODEL), (1, 1, D_MODEL)]:
            x = stream(*shape)
            check(functions(impl, norm_first)[0](x, HEADS, **params_of(layer)), layer(x))


def test_a_turned_stream_gives_what_its_copy_gives(impl, norm_first):
    block, _ = functions(impl, norm_first)
    params, x = params_of(random_layer(norm_first)), stream(5, 3, D_MODEL).transpose(0, 1)
    check(block(x, HEADS, **params).detach(), block(x.contiguous(), HEADS, **params).detach())


def test_a_small_stream_shows_the_default_eps(impl, norm_first):
    layer = random_layer(norm_first).train()
    with torch.no_grad():
        layer.self_attn.out_proj.bias.mul_(1e-3)
        x = 1e-3 * stream()
        check(functions(impl, norm_first)[0](x, HEADS, **params_of(layer)), layer(x))


def test_a_number_added_to_the_whole_stream_passes_through_a_pre_norm_block(impl):
    """Norms take the mean away, so that only the stream itself moves; 1e6 leaves enough digits to see it."""
    params, x = params_of(random_layer(True)), stream()
    with torch.no_grad():
        near, far = (impl.pre_norm_transformer_block_forward(shifted, HEADS, **params) for shifted in (x, x + 1e6))
    check(far - 1e6, near, 1e-6)


def test_large_scores_choose_the_best_key(impl):
    """With tokens of length 100 in different directions every query attends to itself, so attention is the identity."""
    layer = random_layer(False).train()
    x = 100 * torch.eye(5, 4, dtype=torch.float64).repeat(1, 2)[None, :4]
    with torch.no_grad():
        itself = impl.post_norm_transformer_block_forward(x, HEADS, **params_of(layer), mask=torch.eye(4).bool())
        check(impl.post_norm_transformer_block_forward(x, HEADS, **params_of(layer)), itself)


def test_a_hidden_key_is_never_better_than_a_visible_one(impl):
    """Each token sees its opposite only, with a score of minus some hundreds: it gets the opposite's features whole."""
    layer = random_layer(False).train()
    v = stream(D_MODEL)
    x = 80 * torch.stack([v, -v])[None]
    only_the_other = torch.tensor([[False, True], [True, False]])
    with torch.no_grad():
        wanted = layer(x, ~only_the_other)
        check(impl.post_norm_transformer_block_forward(x, HEADS, **params_of(layer), mask=only_the_other), wanted)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_narrow_dtypes(impl, norm_first, dtype):
    layer = random_layer(norm_first).to(dtype).requires_grad_(False)
    wide, x = copy.deepcopy(layer).double().train(), stream().to(dtype)
    got = functions(impl, norm_first)[1](x, HEADS, params_of(layer), 1)
    assert got.dtype == dtype
    check(got.double(), wide(x.double()), 5e-2 if dtype == torch.bfloat16 else 1e-3)


def test_what_was_given_is_left_alone(impl, norm_first):
    block, stack = functions(impl, norm_first)
    params = {name: value.detach() for name, value in params_of(random_layer(norm_first)).items()}
    params["mask"] = torch.ones(5, 5).tril().bool()
    x = stream()
    kept = copy.deepcopy((x, params))
    block(x, HEADS, **params)
    stack(x, HEADS, params, 2)
    torch.testing.assert_close((x, params), kept, rtol=0, atol=0)


def test_wrong_numbers_are_value_errors(impl, norm_first):
    block, stack = functions(impl, norm_first)
    params = params_of(random_layer(norm_first))
    pytest.raises(ValueError, block, stream(), 3, **params)
    pytest.raises(ValueError, stack, stream(), 3, params, 1)
    pytest.raises(ValueError, stack, stream(), HEADS, params, -3)
