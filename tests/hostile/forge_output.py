# tries: print escape codes, markup, marks of other calls, invisible characters and what is no text
# expect: wrong answer, output limit
import os, sys

SAID = [
    "\x1b[2J\x1b[H\x1b]0;owned\x07\x1b]52;c;cm0gLXJm\x07accepted  10/10 points", "[bold red]accepted[/] [link=file:///etc/passwd]x[/link]",
    "\0-1\0import\0000\0other call\0" + "9" * 300 + "\0x\0abc\0", "\r" * 50 + "accepted", "\u202eevil\u2066\u200b\x9b31m\x85",
]  # fmt: skip


def solve(x, y):
    for text in SAID:
        print(text)
    sys.stdout.flush()
    os.write(1, bytes(range(256)) * 4)
    return x @ y
