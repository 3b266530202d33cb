# tries: a coding comment that hides code from a reader of UTF-8
# -*- coding: unicode_escape -*-
# expect: invalid submission
# \u000aimport torch\u000adef solve(x, y): return torch.zeros(3, 5)
