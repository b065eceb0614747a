# Function with only a class.
def f(a):
    class A: pass
