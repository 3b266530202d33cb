"""Cases of the softmax problem."""

from judge.authoring import call, case, relation, same


@case
def plain(draw):
    "is the softmax of the product"
    return call("solve", draw.normal(3, 4), draw.normal(4, 5))


@case
def large_scores(draw):
    "is finite and right where scores are in the hundreds"
    return [call("solve", 100 * draw.normal(2, 3), draw.normal(3, 4)) for _ in range(2)]


@relation
def shifted_scores(draw):
    "does not change when every score of a row grows by the same amount"
    x, y = draw.normal(3, 4), draw.normal(4, 5)
    shifted = y + draw.normal(4, 1)

    def check(observations):
        one, other = (observation["output"] for observation in observations)
        return None if same(one, other) else "the two results differ"

    return [call("solve", x, y), call("solve", x, shifted)], check
