# Enter no parameters.
def f():
    g()
    return 1
