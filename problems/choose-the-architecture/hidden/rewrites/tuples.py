"""Tuples for lists, annotated names, numbers written in other bases."""

GATED_MLP_MATRICES: int = +3
PRE_NORM_ORDER: tuple[str, ...] = ("norm", "attention", "add")
POST_NORM_ORDER: tuple[str, ...] = ("attention", "add", "norm")
GPT_3: dict[str, int] = {"layers": 0x60, "width": 12_288, "heads": 0b1100000, "head_width": 0x80}
BERT_LARGE: dict[str, int] = {"layers": 0o30, "width": 0x400, "heads": 0x10, "head_width": 0x40, "mlp_width": 0x1000}
CROSS_ATTENTION_SOURCES: "dict" = {"query": "decoder", "key": "encoder", "value": "encoder"}
ARCHITECTURE: dict[str, str] = {
    "article-summary": "encoder-decoder",
    "code-completion": "decoder",
    "entity-tagging": "encoder",
    "image-captioning": "encoder-decoder",
    "image-classification": "encoder",
    "masked-word-prediction": "encoder",
    "next-word-prediction": "decoder",
    "sentence-embedding": "encoder",
    "speech-to-text": "encoder-decoder",
    "story-generation": "decoder",
    "text-likelihood": "decoder",
    "translation": "encoder-decoder",
}
