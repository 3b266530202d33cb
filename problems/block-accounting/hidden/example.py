"""The example of statement.md, computed with the reference."""

CALLS = (
    "attention_parameter_count(2)",
    "attention_parameter_count(2, bias=False)",
    "block_parameter_count(2, 3)",
    "block_parameter_count(2, 3, gated=True)",
    "block_parameter_count(2, 3, bias=False)",
    "block_parameter_count(2, 3, cross_attention=True)",
    "gpt2_parameter_count(5, 4, 2, 1)",
    "bert_parameter_count(5, 4, 2, 2, 3, 1)",
    "vit_parameter_count(4, 2, 1, 2, 3, 1, 3)",
    "block_forward_flops(1, 4, 2, 3)",
    "kv_cache_bytes(1, 4, 2, 1, 2, 2)",
)

for call in CALLS:
    print(call, "->", eval(call))
