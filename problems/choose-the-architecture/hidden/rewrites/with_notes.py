"""With further names beside the answers, semicolons, and texts that are joined or escaped."""

AUTHOR = "a student"
HOURS_SPENT = 1.5
SURE_OF = {"sizes": False, "orders": True, "notes": [None, -2, ("nested", {"as": "deep"})]}

POST_NORM_ORDER = ("attention", "add", "norm"); PRE_NORM_ORDER = ("norm", "attention", "add")  # fmt: skip  # noqa: E702
GATED_MLP_MATRICES = (3)  # fmt: skip  # noqa: UP034
BERT_LARGE = {"layers": 24, "heads": 16, "head_width": 64, "width": 1024, "mlp_width": 4096}
GPT_3 = {"layers": 96, "heads": 96, "head_width": 128, "width": 12288}
CROSS_ATTENTION_SOURCES = {"query": "decoder", "key": "encoder", "value": "encoder"}
ARCHITECTURE = {
    "masked-word-prediction": "encoder",
    "sentence-embedding": "encoder",  # fmt: skip  # noqa: ISC001
    "entity-tagging": r"encoder",
    "image-classification": """encoder""",
    "next-word-prediction": "decoder",
    "code-completion": "decoder",
    "text\x2dlikelihood": "decoder",
    "story-generation": "decoder",
    "translation": "encoder\x2ddecoder",
    "speech-to-text": "encoder-decoder",
    "article-summary": "encoder-decoder",
    "image-captioning": "encoder-decoder",
}
