"""A configuration object that adds up its own parts; further optional arguments, keywords passed on."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    d_model: int
    d_ff: int
    gated: bool = False
    bias: bool = True
    cross_attention: bool = False

    def linear(self, into, out):
        return into * out + out * self.bias

    @property
    def attention(self):
        return sum(self.linear(self.d_model, self.d_model) for _ in ("query", "key", "value", "output"))

    @property
    def mlp(self):
        up = self.linear(self.d_model, self.d_ff)
        return up + up * self.gated + self.linear(self.d_ff, self.d_model)

    @property
    def norm(self):
        return self.d_model + self.d_model

    @property
    def block(self):
        sublayers = [self.attention, self.mlp] + [self.attention] * self.cross_attention
        return sum(sublayer + self.norm for sublayer in sublayers)


def attention_parameter_count(d_model: int, bias: bool = True, **options) -> int:
    return Config(d_model, 0, bias=bias, **options).attention


def block_parameter_count(d_model: int, d_ff: int, *args, **kwargs) -> int:
    return Config(d_model, d_ff, *args, **kwargs).block


def gpt2_parameter_count(vocab_size, max_len, d_model, num_blocks, expansion=4):
    config = Config(d_model, expansion * d_model)
    total = config.norm
    for rows in (vocab_size, max_len):
        total += rows * d_model
    for _ in range(num_blocks):
        total += config.block
    return total


def bert_parameter_count(vocab_size, max_len, type_vocab_size, d_model, d_ff, num_blocks, pooler=True):
    config = Config(d_model, d_ff)
    embeddings = sum(rows * d_model for rows in (vocab_size, max_len, type_vocab_size)) + config.norm
    return embeddings + config.block * num_blocks + config.linear(d_model, d_model) * pooler


def vit_parameter_count(img_size, patch_size, in_channels, d_model, d_ff, num_blocks, num_classes, *, cls_tokens=1):
    config = Config(d_model, d_ff)
    rows = divmod(img_size, patch_size)[0]
    tokens = pow(rows, 2) + cls_tokens
    embedding = config.linear(in_channels * patch_size * patch_size, d_model) + (tokens + cls_tokens) * d_model
    return embedding + config.block * num_blocks + config.norm + config.linear(d_model, num_classes)


def block_forward_flops(batch, seq_len, d_model, d_ff, gated=False):
    config = Config(d_model, d_ff, gated=gated, bias=False)
    weights = config.attention + config.mlp
    over_tokens = 2 * seq_len * d_model  # for each query: all keys once, all values once
    return (weights + over_tokens) * batch * seq_len * 2


def kv_cache_bytes(batch, seq_len, num_blocks, num_kv_heads, d_head, bytes_per_element, copies=2):
    row = num_kv_heads * d_head * bytes_per_element
    return copies * row * num_blocks * seq_len * batch
