"""Cases of the accounting: random sizes, no two of them alike, and the sizes of models whose numbers are published."""

from judge.authoring import call, case, relation


def widths(draw):
    """A width of the model and one of the hidden layer that is no multiple of it."""
    d_model = draw.integer(7, 40)
    return d_model, 3 * d_model + draw.integer(1, d_model)


@case
def attention_parameters(draw):
    "counts the four projections of an attention, with biases and without"
    d_model = draw.integer(7, 200)
    return [
        call("attention_parameter_count", d_model),
        call("attention_parameter_count", d_model=d_model, bias=False),
        call("attention_parameter_count", d_model + 1, True),
        call("attention_parameter_count", 1),
    ]


@case(after="attention_parameters")
def plain_block(draw):
    "counts attention, MLP and two norms, with the biases of the linear maps"
    d_model, d_ff = widths(draw)
    return [
        call("block_parameter_count", d_model, d_ff),
        call("block_parameter_count", d_ff, d_model, False, True, False),
        call("block_parameter_count", d_model=768, d_ff=3072),
        call("block_parameter_count", 1, 1),
    ]


@case
def block_without_biases(draw):
    "leaves out the biases of the linear maps alone where there are none"
    d_model, d_ff = widths(draw)
    return [
        call("block_parameter_count", d_model, d_ff, bias=False),
        call("block_parameter_count", d_model, d_ff, False, False, True),
        call("block_parameter_count", d_model, d_ff, True, False, True),
    ]


@case
def gated_block(draw):
    "counts a gated MLP with the hidden width that it is given"
    d_model, d_ff = widths(draw)
    return [
        call("block_parameter_count", d_model, d_ff, gated=True),
        call("block_parameter_count", d_model, d_ff, True, False),
    ]


@case
def block_with_cross_attention(draw):
    "counts a second attention and a third norm in a block with cross-attention"
    d_model, d_ff = widths(draw)
    return [
        call("block_parameter_count", d_model, d_ff, cross_attention=True),
        call("block_parameter_count", d_model, d_ff, True, True, True),
    ]


@case(after="plain_block")
def gpt2_of_any_size(draw):
    "counts a GPT-2 of any width, depth, vocabulary and length, its head tied"
    d_model, max_len = draw.integer(7, 40), draw.integer(41, 60)
    vocab_size, num_blocks = draw.integer(70, 200), draw.integer(2, 6)
    return [
        call("gpt2_parameter_count", vocab_size, max_len, d_model, num_blocks),
        call("gpt2_parameter_count", vocab_size=d_model, max_len=3, d_model=vocab_size, num_blocks=1),
        call("gpt2_parameter_count", vocab_size, max_len, 768, 12),
        call("gpt2_parameter_count", vocab_size, max_len, 1, draw.integer(13, 60)),
    ]


@case(after="plain_block")
def bert_of_any_size(draw):
    "counts a BERT with any number of segment types and any hidden width"
    d_model, d_ff = widths(draw)
    vocab_size, max_len, types = draw.integer(300, 500), draw.integer(41, 60), draw.integer(3, 6)
    return [
        call("bert_parameter_count", vocab_size, max_len, types, d_model, d_ff, draw.integer(2, 6)),
        call("bert_parameter_count", 4099, 1031, 2, d_model, d_ff, 2),
        call(
            "bert_parameter_count",
            vocab_size=vocab_size,
            max_len=max_len,
            type_vocab_size=1,
            d_model=d_model,
            d_ff=d_ff,
            num_blocks=1,
        ),
    ]


@case(after="plain_block")
def vit_of_any_size(draw):
    "counts a vision transformer for any image, patch, channels and classes"
    d_model, d_ff = widths(draw)
    patch_size, per_side, num_classes = draw.integer(3, 7), draw.integer(3, 9), draw.integer(41, 90)
    return [
        call("vit_parameter_count", per_side * patch_size, patch_size, 2, d_model, d_ff, 3, num_classes),
        call("vit_parameter_count", 96, 16, 3, 512, 2048, 2, 10),
        call(
            "vit_parameter_count",
            img_size=patch_size,
            patch_size=patch_size,
            in_channels=1,
            d_model=d_model,
            d_ff=d_ff,
            num_blocks=1,
            num_classes=1,
        ),
    ]


@case
def models_without_blocks(draw):
    "counts what stands around the blocks when there are none"
    d_model, d_ff = widths(draw)
    return [
        call("gpt2_parameter_count", 113, 41, d_model, 0),
        call("bert_parameter_count", 113, 41, 2, d_model, d_ff, 0),
        call("vit_parameter_count", 24, 8, 3, d_model, d_ff, 0, 7),
        call("kv_cache_bytes", 2, 5, 0, 3, 4, 2),
    ]


PUBLISHED = {
    "GPT-2 small": ("gpt2_parameter_count", (50257, 1024, 768, 12), 124_439_808),
    "GPT-3 175B": ("gpt2_parameter_count", (50257, 2048, 12288, 96), 174_604_259_328),
    "BERT-base-uncased": ("bert_parameter_count", (30522, 512, 2, 768, 3072, 12), 109_482_240),
    "BERT-large-uncased": ("bert_parameter_count", (30522, 512, 2, 1024, 4096, 24), 335_141_888),
    "ViT-B/16": ("vit_parameter_count", (224, 16, 3, 768, 3072, 12, 1000), 86_567_656),
}


@relation
def published_models(draw):
    "gives the published numbers of parameters of GPT-2, GPT-3, BERT and ViT"
    calls = [call(name, *sizes) for name, sizes, _ in PUBLISHED.values()]

    def check(observations):
        counts = (given["output"] for given in observations)
        faults = [
            f"{title} has {right:,} parameters, and your count gives {count:,}"
            for (title, (_, _, right)), count in zip(PUBLISHED.items(), counts, strict=True)
            if count != right
        ]
        return "; ".join(faults) or None

    return calls, check


@case
def forward_cost(draw):
    "counts two operations for each multiply-add of every matrix product of a block"
    d_model, d_ff = widths(draw)
    batch, seq_len = draw.integer(2, 6), draw.integer(7, 30)
    return [
        call("block_forward_flops", batch, seq_len, d_model, d_ff),
        call("block_forward_flops", batch=1, seq_len=seq_len, d_model=d_model, d_ff=d_ff, gated=False),
        call("block_forward_flops", 2, 32, 64, 256),
        call("block_forward_flops", 1, 1, 1, 1),
    ]


@case
def forward_cost_of_a_gated_block(draw):
    "counts every product of a gated MLP"
    d_model, d_ff = widths(draw)
    return [
        call("block_forward_flops", draw.integer(2, 6), draw.integer(7, 30), d_model, d_ff, True),
        call("block_forward_flops", 2, 32, 64, 171, gated=True),
    ]


@case
def long_sequences(draw):
    "stays exact where the sequence is long and the products over it are most of the work"
    seq_len = 100_000_007 + 2 * draw.integer(0, 1000)  # squared, times a width: more than 64 bits
    return [
        call("block_forward_flops", 3, seq_len, 12289, 49153),
        call("block_forward_flops", 3, seq_len, 12289, 32769, gated=True),
        call("kv_cache_bytes", 7, seq_len, 97, 97, 12289, 8191),
    ]


@case
def enormous_models(draw):
    "stays exact where the counts have more digits than a float"
    d_model, d_ff = 200_000_001, 900_000_011  # each matrix alone has a size that 64 bits hold
    vocab_size, max_len = 1_000_000_007, 1_000_000_009
    return [
        call("attention_parameter_count", d_model),
        call("block_parameter_count", d_model, d_ff, True, True, True),
        call("gpt2_parameter_count", vocab_size, max_len, d_model, 97),
        call("bert_parameter_count", vocab_size, max_len, 3, d_model, d_ff, 97),
        call("vit_parameter_count", 100_000_007, 1, 1, 3, 5, 2, 7),
    ]


@case
def cache_bytes(draw):
    "counts keys and values of every block, key-value head and token in bytes"
    batch, seq_len, heads, d_head = draw.integer(2, 6), draw.integer(7, 30), draw.integer(31, 40), draw.integer(41, 70)
    return [
        call("kv_cache_bytes", batch, seq_len, 3, heads, d_head, 4),
        call("kv_cache_bytes", 1, 2048, 96, 96, 128, 2),
        call("kv_cache_bytes", batch, seq_len, 3, heads, 4, 2),
        call(
            "kv_cache_bytes",
            batch=1,
            seq_len=8192,
            num_blocks=32,
            num_kv_heads=8,
            d_head=128,
            bytes_per_element=1,
        ),
    ]
