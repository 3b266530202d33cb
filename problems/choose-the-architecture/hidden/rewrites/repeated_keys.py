"""A key that is corrected further down in the same dict: as in Python, the last one counts."""

ARCHITECTURE = {
    "masked-word-prediction": "decoder",
    "sentence-embedding": "encoder",
    "entity-tagging": "encoder",
    "image-classification": "encoder",
    "next-word-prediction": "decoder",
    "code-completion": "decoder",
    "text-likelihood": "decoder",
    "story-generation": "decoder",
    "translation": "encoder-decoder",
    "speech-to-text": "encoder-decoder",
    "article-summary": "encoder-decoder",
    "image-captioning": "encoder-decoder",
    "masked-word-prediction": "encoder",  # noqa: F601
}
POST_NORM_ORDER = ["attention", "add", "norm"]
PRE_NORM_ORDER = ["norm", "attention", "add"]
GATED_MLP_MATRICES = 3
BERT_LARGE = {"layers": 24, "width": 1024, "heads": 16, "head_width": 64, "mlp_width": 4096}
GPT_3 = {"layers": 96, "width": 12288, "heads": 96, "head_width": 128}
CROSS_ATTENTION_SOURCES = {"query": "decoder", "key": "encoder", "value": "encoder"}
