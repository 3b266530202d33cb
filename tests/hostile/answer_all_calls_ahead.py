# tries: take the harness's own functions by gc, read all calls to come, and answer them all with forged good manners
# expect: wrong answer, runtime error
import gc, os, sys, types


def harness():
    frame = sys._getframe()
    while "results" not in frame.f_locals or "read" not in frame.f_locals:
        frame = frame.f_back
    return frame


def solve(x, y):
    main = harness()
    frames, wire = main.f_globals["frames"], main.f_globals["wire"]
    number = main.f_locals["header"]["call"]
    while True:
        value = wire.encode_result(
            {
                "values": {"output": wire.encode_result((x @ y).detach())},
                "gradients": {"0.0": x.detach(), "0.1": y.detach()},
            }
        )
        os.write(main.f_locals["results"], frames.pack({"type": "observation", "call": number}, value))
        header, call = frames.read(main.f_locals["read"])
        if header["type"] == "end":
            os.write(main.f_locals["results"], frames.pack({"type": "done", "closed": []}))
            os._exit(0)
        number, program = header["call"], wire.decode_call(call)
        x, y = program.steps[0].args
