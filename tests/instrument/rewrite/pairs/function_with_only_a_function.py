# Function with only a function.
def f(a):
    def g(): return 1
