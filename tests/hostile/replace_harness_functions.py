# tries: reach the harness's functions by frames and gc and replace their code: comparing, encoding, sending
# expect: wrong answer, runtime error
import gc, types


def nothing(*args, **kwargs):
    return []


def solve(x, y):
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__module__ and thing.__module__.startswith("judge."):
            if thing.__name__ in (
                "changes",
                "changed_settings",
                "same_generator_state",
                "compare",
                "_overwritten",
                "_again",
            ):
                try:
                    thing.__code__ = nothing.__code__
                except ValueError:
                    pass
            if thing.__name__ in ("compare", "judge_case"):
                print("LEAK", thing)
    return x @ y
