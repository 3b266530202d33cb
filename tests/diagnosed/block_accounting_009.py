class _Counter:
    """Counts parameters of the parts that models are made of."""

    def __init__(self, d_model, *, d_ff=None, gated=False, bias=True):
        self.d_model = d_model
        self.d_ff = d_ff
        self.gated = gated
        self.bias = bias

    def _linear(self, *, n_in, n_out):
        weight = n_in * n_out
        if not self.bias:
            return weight
        return weight + n_out

    def _norm(self):
        return 2 * self.d_model

    def _attention(self):
        return 4 * self._linear(n_in=self.d_model, n_out=self.d_model)

    def _mlp(self):
        up = self._linear(n_in=self.d_model, n_out=self.d_ff)
        down = self._linear(n_in=self.d_ff, n_out=self.d_model)
        if self.gated:
            return 2 * up + down
        return up + down

    def _block(self, *, cross_attention=False):
        if cross_attention:
            return 2 * self._attention() + self._mlp() + 3 * self._norm()
        return self._attention() + self._mlp() + 2 * self._norm()


_GPT2_D_FF = 3072


def attention_parameter_count(d_model, bias=True):
    return _Counter(d_model, bias=bias)._attention()


def block_parameter_count(d_model, d_ff, gated=False, bias=True, cross_attention=False):
    counter = _Counter(d_model, d_ff=d_ff, gated=gated, bias=bias)
    return counter._block(cross_attention=cross_attention)


def gpt2_parameter_count(vocab_size, max_len, d_model, num_blocks):
    counter = _Counter(d_model, d_ff=_GPT2_D_FF)
    embeddings = (vocab_size + max_len) * d_model
    return embeddings + num_blocks * counter._block() + counter._norm()


def bert_parameter_count(vocab_size, max_len, type_vocab_size, d_model, d_ff, num_blocks):
    counter = _Counter(d_model, d_ff=d_ff)
    embeddings = (vocab_size + max_len + type_vocab_size) * d_model + counter._norm()
    pooler = counter._linear(n_in=d_model, n_out=d_model)
    return embeddings + num_blocks * counter._block() + pooler


def vit_parameter_count(img_size, patch_size, in_channels, d_model, d_ff, num_blocks, num_classes):
    counter = _Counter(d_model, d_ff=d_ff)
    tokens = (img_size // patch_size) ** 2 + 1
    patches = counter._linear(n_in=in_channels * patch_size * patch_size, n_out=d_model)
    head = counter._linear(n_in=d_model, n_out=num_classes)
    return patches + d_model + tokens * d_model + num_blocks * counter._block() + counter._norm() + head


def block_forward_flops(batch, seq_len, d_model, d_ff, gated=False):
    n_tokens = batch * seq_len
    projections = 4 * n_tokens * d_model * d_model
    scores_and_values = 2 * batch * seq_len * seq_len * d_model
    if gated:
        return 2 * (projections + scores_and_values + 3 * n_tokens * d_model * d_ff)
    return 2 * (projections + scores_and_values + 2 * n_tokens * d_model * d_ff)


def kv_cache_bytes(batch, seq_len, num_blocks, num_kv_heads, d_head, bytes_per_element):
    per_token = 2 * num_kv_heads * d_head * bytes_per_element
    return batch * seq_len * num_blocks * per_token
