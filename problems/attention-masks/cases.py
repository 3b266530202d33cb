"""Cases of attention-masks: squares, rectangles and offsets, lengths up to both ends, masks that have to broadcast."""

import torch

from judge.authoring import Call, call, case


@case
def square_causal(draw):
    "lets each token see itself and everything before it"
    return [call("causal_mask", q_len) for q_len in (1, 4, draw.integer(5, 9))]


@case
def queries_with_a_past(draw):
    "adds the tokens before the first query to the keys, all of them visible"
    return [
        call("causal_mask", 3, offset=4),
        call("causal_mask", 1, offset=draw.integer(5, 9)),
        call("causal_mask", 5, offset=2),
    ]


@case
def given_number_of_keys(draw):
    "keeps to the number of keys it is given, more or fewer than the queries"
    return [
        call("causal_mask", 3, 7),
        call("causal_mask", draw.integer(5, 8), 3),
        call("causal_mask", 1, 7),
    ]


@case
def keys_and_offset(draw):
    "counts the queries' positions from the offset, not from the last key"
    return [
        call("causal_mask", 3, 9, 2),
        call("causal_mask", offset=2, k_len=draw.integer(8, 11), q_len=4),
        call("causal_mask", 4, k_len=3, offset=1),
        call("causal_mask", 4, 4, 2),
        call("causal_mask", 2, 3, 5),
        call("causal_mask", 1, 9, 4),
    ]


@case
def long_sequences(draw):
    "works for thousands of tokens"
    return [
        call("causal_mask", 2, offset=draw.integer(4200, 4400)),
        call("causal_mask", 2300, 3),
        call("causal_mask", draw.integer(1200, 1300)),
        call("padding_mask", torch.tensor([2200, 3, draw.integer(2060, 2190)]), 2200),
    ]


@case
def fresh_masks(draw):
    "gives a right mask whatever was asked for, or done to a mask, before"
    steps = Call()
    steps.function("causal_mask", 3, 8).observe("from the start")
    steps.function("causal_mask", 3, 8, 4).observe("from 4")
    edited = steps.function("causal_mask", 4, 6, 1)
    steps.method(edited, "zero_")
    steps.function("causal_mask", 4, 6, 1).observe("after an edit")
    steps.method(steps.function("causal_mask", 4), "zero_")
    steps.function("causal_mask", 4).observe("a square after an edit")
    lengths = 1 + draw.permutation(5)[:3]
    padding = Call()
    padding.method(padding.function("padding_mask", lengths, 6), "zero_")
    padding.function("padding_mask", lengths, 6).observe("padding after an edit")
    return [steps, padding]


@case
def sequences_of_different_lengths(draw):
    "shows each sequence's tokens and hides what is behind its end"
    lengths = 1 + draw.permutation(6)[:4]
    return [
        call("padding_mask", lengths, 7),
        call("padding_mask", max_len=8, lengths=torch.tensor([5])),
        call("padding_mask", draw.integers(1, 6, 70), 6),
    ]


@case
def as_many_sequences_as_tokens(draw):
    "masks the keys of each sequence also where batch and length are equal"
    # Not simply shuffled: lengths that fall from 5 to 1 make a mask that is its own transpose.
    lengths = (1 + torch.arange(5)).roll(draw.integer(0, 5))
    return call("padding_mask", lengths, 5)


@case
def empty_and_full_sequences(draw):
    "accepts sequences of length 0 and of full length"
    return [
        call("padding_mask", torch.tensor([7, draw.integer(2, 6), 0]), 7),
        call("padding_mask", torch.tensor([0, 0]), 3),
        call("padding_mask", torch.tensor([4, 4, 4]), 4),
        call("padding_mask", torch.tensor([1]), 1),
        call("padding_mask", torch.tensor([0, 1]), 1),
    ]


@case
def kinds_of_lengths(draw):
    "takes lengths as int32 and as a view of a larger tensor"
    lengths = 1 + draw.permutation(5)[:4]
    table = torch.stack([lengths, 90 + lengths], dim=-1)
    return [
        call("padding_mask", lengths.to(torch.int32), 6),
        call("padding_mask", draw.integers(1, 6, 70).to(torch.int32), 6),
        call("padding_mask", table[:, 0], 6),
    ]


@case
def lengths_beyond_the_padding(draw):
    "refuses a length above max_len with a ValueError, wherever it stands"
    too_long = draw.integer(9, 30)
    return [
        call("padding_mask", torch.tensor([3, too_long, 5]), 7).raises(ValueError, naming=too_long),
        call("padding_mask", torch.tensor([2, 7, 8]), 7).raises(ValueError, naming=8),
        call("padding_mask", torch.tensor([8], dtype=torch.int32), 7).raises(ValueError, naming=8),
        call("padding_mask", torch.tensor([4, 256 + 3]), 7).raises(ValueError, naming=256 + 3),
        call("padding_mask", torch.tensor([2**32 + 3, 4]), 7).raises(ValueError, naming=2**32 + 3),
    ]


@case
def negative_lengths(draw):
    "refuses a negative length with a ValueError"
    return [
        call("padding_mask", torch.tensor([-1, 3, 5]), 7).raises(ValueError, naming=-1),
        call("padding_mask", torch.tensor([7, -draw.integer(2, 7)]), 7).raises(ValueError, naming="-"),
        call("padding_mask", torch.tensor([-2], dtype=torch.int32), 7).raises(ValueError, naming=-2),
    ]


@case
def masks_of_one_shape(draw):
    "allows what all of its masks allow, however many they are"
    first, second, third = (draw.mask(5, 7, hidden_rows=1) for _ in range(3))
    single_keys = ~torch.eye(9, dtype=torch.bool)  # row i hides key i alone: each of eight masks counts
    return [
        call("combine_masks", first, second),
        call("combine_masks", first, second, third),
        call("combine_masks", draw.mask(2, 1, 1, 7)),
        call("combine_masks", *single_keys[draw.permutation(9)[:8]].unsqueeze(1)),
    ]


@case
def masks_that_say_nothing_or_all(draw):
    "takes a mask that shows everything, or nothing, for a mask like any other"
    mask, everything, nothing = draw.mask(5, 7), torch.ones(5, 7).bool(), torch.zeros(2, 1, 1, 7).bool()
    return [
        call("combine_masks", everything, None, everything[:1]),
        call("combine_masks", mask, nothing),
        call("combine_masks", nothing),
        call("combine_masks", everything[0], mask),
        call("combine_masks", mask[:1], everything),
        call("combine_masks", mask, torch.ones(2, 1, 1, 7).bool()),
        call("combine_masks", mask, mask),
    ]


@case
def masks_that_broadcast(draw):
    "combines masks of different shapes into one of the broadcast shape"
    causal = torch.ones(5, 7, dtype=torch.bool).tril(2)
    padding = (torch.arange(7) < draw.integers(2, 7, 2, 1))[:, None, None, :]
    heads = draw.mask(3, 1, 7)
    return [
        call("combine_masks", causal, padding),
        call("combine_masks", padding, heads, causal),
        call("combine_masks", draw.mask(2, 1, 5, 1), draw.mask(1, 3, 1, 7)),
        call("combine_masks", padding.expand(2, 3, 5, 7), draw.transposed(causal)),
        call("combine_masks", draw.mask(2, 5, 7), causal),
        call("combine_masks", draw.mask(1, 1, 5, 7), padding[:1]),
        call("combine_masks", draw.mask(7), draw.mask(7)),
    ]


@case
def masks_of_any_rank(draw):
    "combines masks of any numbers of axes, each along the last ones of the others"
    shapes = [
        [(7,), (5, 7)], [(5, 1), (7,)], [(5, 1), (5,)], [(5,), (5, 1)], [(1,), (5, 7)], [(7,), (2, 1, 1, 7)],
        [(3, 5, 7), (5, 7)], [(3, 1, 1), (1, 7)], [(3, 3), (3,)], [(3, 3, 3), (3, 3)], [(3, 3), (3, 3, 3, 3)],
        [(2, 1, 3, 5, 7), (5, 7)], [(2, 1, 1, 5, 7), (3, 5, 1)], [(2, 2, 1, 1, 7), (3, 1, 7), (5, 1)],
    ]  # fmt: skip
    steps = Call()
    for ranks in shapes:
        masks = [draw.mask(*shape) for shape in ranks]
        steps.function("combine_masks", *masks).observe(" and ".join(map(str, ranks)))
    long = torch.ones(260, 260).bool().tril()
    steps.function("combine_masks", long, draw.mask(2, 1, 1, 260)).observe("260 tokens")
    steps.function("combine_masks", torch.ones(1, 7).bool().expand(5, 7)).observe("one expanded mask")
    steps.function("combine_masks", draw.mask(1, 7).expand(5, 7), None).observe("one expanded mask and None")
    return steps.values_only()


@case
def absent_masks(draw):
    "skips every None among its masks"
    one, other = draw.mask(5, 7), draw.mask(2, 1, 5, 7)
    return [
        call("combine_masks", None, one, other),
        call("combine_masks", one, None, other),
        call("combine_masks", one, other, None),
        call("combine_masks", None, None, one),
    ]


@case
def nothing_to_combine(draw):
    "gives None when there is no mask at all"
    return [call("combine_masks"), call("combine_masks", None), call("combine_masks", None, None, None)]
