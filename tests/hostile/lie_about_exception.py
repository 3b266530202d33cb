# tries: exceptions whose class, name, bases, message and traceback lie, raise or never fit a screen
# expect: runtime error
# turns: 9
class Meta(type):
    __mro__ = property(lambda cls: 1 / 0)


class Named(type):
    __module__ = property(lambda cls: 1 / 0)


class Typed(type):
    __name__ = property(lambda cls: 5)


class Accepted(BaseException):
    def __str__(self):
        raise SystemExit(0)

    __repr__ = __str__
    __class__ = property(lambda self: int)
    __traceback__ = property(lambda self: 1 / 0)


class Long(Exception):
    def __str__(self):
        return "\x1b[2J[bold]accepted[/bold]\0\ud800\u202e\r\n" * 100_000


Long.__name__ = "E\x1b[31m\ud800" * 1000
Long.__module__ = 5


class FromNowhere(ValueError, metaclass=Named):
    pass


class Numbered(ValueError, metaclass=Typed):
    pass


EXCEPTIONS = [FromNowhere, Numbered, Accepted, Long, KeyboardInterrupt, SystemExit(0), GeneratorExit, Exception("\ud800"), SyntaxError("a", ("submission.py", 10**9, 5, "x"))]


def solve(x, y):
    raise EXCEPTIONS[@TURN@]
