"""Model answers: which architecture fits which task, and what is inside of it.

Tasks and architectures: Prince, "Understanding Deep Learning", sections 12.5 to 12.8. Orders of the norm: Xiong et al.
2020, figure 1. Gated MLP: Shazeer 2020, section 2. Sizes: Devlin et al. 2019, section 3; Brown et al. 2020, table 2.1.
"""

ARCHITECTURE = {
    # the input is at hand whole, and nothing new is written: read both sides, give labels or representations
    "masked-word-prediction": "encoder",
    "sentence-embedding": "encoder",
    "entity-tagging": "encoder",
    "image-classification": "encoder",
    # one sequence that goes on: see the past alone
    "next-word-prediction": "decoder",
    "code-completion": "decoder",
    "text-likelihood": "decoder",
    "story-generation": "decoder",
    # a source that is read whole, and a target of its own that is generated while looking at it
    "translation": "encoder-decoder",
    "speech-to-text": "encoder-decoder",
    "article-summary": "encoder-decoder",
    "image-captioning": "encoder-decoder",
}

POST_NORM_ORDER = ["attention", "add", "norm"]
PRE_NORM_ORDER = ["norm", "attention", "add"]

GATED_MLP_MATRICES = 3  # gate, up and down

BERT_LARGE = {"layers": 24, "width": 1024, "heads": 16, "head_width": 64, "mlp_width": 4096}
GPT_3 = {"layers": 96, "width": 12288, "heads": 96, "head_width": 128}

CROSS_ATTENTION_SOURCES = {"query": "decoder", "key": "encoder", "value": "encoder"}
