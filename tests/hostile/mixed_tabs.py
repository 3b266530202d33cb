# tries: tabs and blanks mixed in one block
# expect: invalid submission
def solve(x, y):
	if 1:
        	return x
    return y
