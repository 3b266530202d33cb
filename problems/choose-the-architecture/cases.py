"""Cases of the plain answers: each names the question whose answer is missing, of the wrong kind or wrong.

A wrong answer is told with the idea to think over again, and never with the right one.
"""

from judge.authoring import Call, relation

CHOICES = ("encoder", "decoder", "encoder-decoder")
STEPS = ("norm", "attention", "add")
KINDS = {
    str: "a text",
    int: "an int",
    float: "a float",
    bool: "a bool",
    list: "a list",
    tuple: "a list",
    dict: "a dict",
}

READ_WHOLE = {
    "masked-word-prediction": ("encoder", "ask which of the words around the gap help to guess it"),
    "sentence-embedding": ("encoder", "ask whether a sentence that is all there has to be continued, or understood"),
    "entity-tagging": ("encoder", "a word is labelled by what stands before it and after it, and none is made up"),
    "image-classification": ("encoder", "all patches are there at once; ask whether a sequence is to be written"),
}
CONTINUED = {
    "next-word-prediction": ("decoder", "ask what a position may not see when the word after it is to be predicted"),
    "code-completion": ("decoder", "what was typed and what follows are one sequence; ask which way it is read"),
    "text-likelihood": ("decoder", "by the chain rule each factor is one word given some others; ask which others"),
    "story-generation": ("decoder", "the story continues its own beginning; ask whether there is a second sequence"),
}
SOURCE_AND_TARGET = {
    "translation": (
        "encoder-decoder",
        "count the sequences, and ask which of them is known whole before the first word",
    ),
    "speech-to-text": ("encoder-decoder", "sound and words are two sequences of other lengths; ask how each is read"),
    "article-summary": ("encoder-decoder", "the summary is written anew and the article stays; ask how each is read"),
    "image-captioning": (
        "encoder-decoder",
        "the image is looked at whole, the caption grows; ask what connects the two",
    ),
}
TASKS = {**READ_WHOLE, **CONTINUED, **SOURCE_AND_TARGET}

BERT_LARGE = {
    "layers": (24, "the larger of the two models of the paper has twice the depth of the base model"),
    "width": (1024, "look the hidden size up for the larger of the two models of the paper"),
    "heads": (16, "heads share the width equally, and both models of the paper have heads of one width"),
    "head_width": (64, "the width of the model is divided among its heads"),
    "mlp_width": (4096, "the plain MLP of the original transformer widens the stream by a fixed factor"),
}
GPT_3 = {
    "layers": (96, "take the last row of the paper's table, the model of 175 billion parameters"),
    "width": (12288, "twelve times layers times width squared is about the number of parameters"),
    "heads": (96, "heads times the width of a head is the width of the model"),
    "head_width": (128, "the width of the model is divided among its heads, which are wider here than in BERT"),
}
SOURCES = {
    "query": ("decoder", "ask which sequence is being written and looks something up"),
    "key": ("encoder", "ask in which sequence something is looked up"),
    "value": ("encoder", "a weight and what it multiplies belong to the same position of the same sequence"),
}


def question(name, find_fault):
    """The constant ``name`` and a check of what the file gives for it."""
    one = Call()
    one.constant(name).observe("answer")
    return one, lambda observations: find_fault(observations[0]["answer"])


def wrong_kind(what, given, wanted):
    """What is wrong with the type of an answer, or None; a bool is no int here, and neither is 3.0."""
    if given is None:
        return f"{what} is not answered yet"
    if KINDS[type(given)] != KINDS[wanted]:
        return f"{what} is {KINDS[type(given)]}, where {KINDS[wanted]} is asked for"
    return None


def wrong_answer(what, given, right, idea, choices=()):
    """What is wrong with one answer, or None."""
    fault = wrong_kind(what, given, type(right))
    if fault:
        return fault
    if choices and given not in choices:
        return f"{what} is {given!r:.40}, which is none of the choices {listed(choices)}"
    return None if given == right else f"{what} is wrong: {idea}"


def wrong_table(name, given, answers, choices=()):
    """What is wrong with these entries of a dict, each named by its key, or None."""
    fault = wrong_kind(name, given, dict)
    if fault:
        return fault
    faults = []
    for key, (right, idea) in answers.items():
        what = f"{name}[{key!r}]"
        if key in given:
            faults.append(wrong_answer(what, given[key], right, idea, choices))
        else:
            faults.append(f"{what} is missing")
    return "; ".join(fault for fault in faults if fault) or None


def other_keys(name, given, keys):
    """The keys that nobody asked for, in a sentence, or None."""
    others = [f"{key!r:.40}" for key in given if key not in keys]
    return f"{name} has {', '.join(others)}, which is not asked for" if others else None


def whole_table(name, answers, choices=()):
    """A dict with these answers and nothing else."""
    return question(name, lambda given: wrong_table(name, given, answers, choices) or other_keys(name, given, answers))


def order(name, right, idea):
    """A list of the three steps, each once."""

    def find_fault(given):
        fault = wrong_kind(name, given, list)
        if fault:
            return fault
        if sorted(map(repr, given)) != sorted(map(repr, STEPS)):
            return f"{name} does not hold each of the steps {listed(STEPS)} once"
        return None if list(given) == right else f"{name} is wrong: {idea}"

    return question(name, find_fault)


def listed(choices):
    return ", ".join(map(repr, choices))


@relation
def inputs_read_whole(draw):
    "chooses an architecture for the tasks that label or represent what they are given"
    return question("ARCHITECTURE", lambda given: wrong_table("ARCHITECTURE", given, READ_WHOLE, CHOICES))


@relation
def one_sequence_continued(draw):
    "chooses an architecture for the tasks in which one sequence goes on"
    return question("ARCHITECTURE", lambda given: wrong_table("ARCHITECTURE", given, CONTINUED, CHOICES))


@relation
def source_and_target(draw):
    "chooses an architecture for the tasks that write one thing while looking at another"
    return question("ARCHITECTURE", lambda given: wrong_table("ARCHITECTURE", given, SOURCE_AND_TARGET, CHOICES))


@relation
def no_other_tasks(draw):
    "answers for the twelve tasks in their own spelling and for no others"

    def find_fault(given):
        return wrong_kind("ARCHITECTURE", given, dict) or other_keys("ARCHITECTURE", given, TASKS)

    return question("ARCHITECTURE", find_fault)


@relation
def post_norm_order(draw):
    "puts the three steps of a post-norm sublayer in order"
    idea = "write the sublayer as one formula: what does a post-norm sublayer do to the stream itself"
    return order("POST_NORM_ORDER", ["attention", "add", "norm"], idea)


@relation
def pre_norm_order(draw):
    "puts the three steps of a pre-norm sublayer in order"
    idea = "write the sublayer as one formula: what may never happen to the stream itself in pre-norm"
    return order("PRE_NORM_ORDER", ["norm", "attention", "add"], idea)


@relation
def gated_mlp_matrices(draw):
    "counts the weight matrices of a gated MLP"
    idea = "count the maps into the hidden width and the one out of it"
    return question("GATED_MLP_MATRICES", lambda given: wrong_answer("GATED_MLP_MATRICES", given, 3, idea))


@relation
def bert_large(draw):
    "gives the sizes of the larger BERT as int"
    return whole_table("BERT_LARGE", BERT_LARGE)


@relation
def gpt_3(draw):
    "gives the sizes of the largest GPT-3 as int"
    return whole_table("GPT_3", GPT_3)


@relation
def cross_attention_sources(draw):
    "says where cross-attention takes queries, keys and values from"
    return whole_table("CROSS_ATTENTION_SOURCES", SOURCES, CHOICES[:2])
