"""Cases of the file problem."""

from judge.authoring import Call, ScratchPath, case


@case
def kept_and_recalled(draw):
    "recalls what it kept, in one file"
    calls = []
    for text in (True, False):
        one = Call()
        one.function("keep", draw.normal(5), ScratchPath("kept.pt", text=text))
        one.listing().observe("files")
        one.readable(ScratchPath("kept.pt")).observe("readable")
        one.function("recall", ScratchPath("kept.pt", text=text)).observe("output")
        calls.append(one.values_only())
    return calls


@case
def foreign_file(draw):
    "refuses a file that is none of its own"
    one = Call()
    one.write_file(ScratchPath("foreign"), b"no tensor")
    one.function("recall", ScratchPath("foreign")).observe("output")
    return one.raises(ValueError)
