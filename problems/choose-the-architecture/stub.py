"""Answers about architectures: literals only, nothing here is executed. Replace every None."""

# Each task is one for "encoder", "decoder" or "encoder-decoder".
ARCHITECTURE = {
    "masked-word-prediction": None,
    "sentence-embedding": None,
    "entity-tagging": None,
    "image-classification": None,
    "next-word-prediction": None,
    "code-completion": None,
    "text-likelihood": None,
    "story-generation": None,
    "translation": None,
    "speech-to-text": None,
    "article-summary": None,
    "image-captioning": None,
}

# The steps of an attention sublayer in their order: a list of "norm", "attention" and "add", each once.
POST_NORM_ORDER = None
PRE_NORM_ORDER = None

# How many weight matrices a gated MLP has: an int.
GATED_MLP_MATRICES = None

# Published sizes: ints.
BERT_LARGE = {"layers": None, "width": None, "heads": None, "head_width": None, "mlp_width": None}
GPT_3 = {"layers": None, "width": None, "heads": None, "head_width": None}

# Where a decoder's cross-attention takes each of its inputs from: "encoder" or "decoder".
CROSS_ATTENTION_SOURCES = {"query": None, "key": None, "value": None}
