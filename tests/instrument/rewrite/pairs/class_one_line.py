# Class one line.
class A: x = 1; y = x
def f(a): return A
