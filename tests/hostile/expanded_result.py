# tries: a tensor of huge shape that takes no memory
# expect: output limit, wrong answer, memory limit
def solve(x, y):
    return (x @ y)[0, 0].expand(1 << 20, 1 << 20)
