# The names and the keys in another order, comments between them, no docstring.
CROSS_ATTENTION_SOURCES = {
    "value": "encoder",
    "key": "encoder",  # keys and values: one place
    "query": "decoder",
}
GPT_3 = {"head_width": 128, "heads": 96, "width": 12288, "layers": 96}
BERT_LARGE = {"mlp_width": 4096, "head_width": 64, "heads": 16, "width": 1024, "layers": 24}
GATED_MLP_MATRICES = 3

PRE_NORM_ORDER = [
    "norm",
    "attention",
    "add",
]
POST_NORM_ORDER = [
    "attention",
    "add",
    "norm",
]

# fmt: off
ARCHITECTURE = {
    "translation": "encoder-decoder", "next-word-prediction": "decoder", "masked-word-prediction": "encoder",
    "speech-to-text": "encoder-decoder", "code-completion": "decoder", "sentence-embedding": "encoder",
    "article-summary": "encoder-decoder", "text-likelihood": "decoder", "entity-tagging": "encoder",
    "image-captioning": "encoder-decoder", "story-generation": "decoder", "image-classification": "encoder",
}
# fmt: on
