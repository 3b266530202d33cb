# tries: return a list that holds itself many times, and a mapping without end
# expect: time limit, memory limit, output limit, wrong answer
def solve(x, y):
    result = []
    result += [result] * 30
    return result
