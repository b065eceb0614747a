# Enter pass only.
def f(a, b):
    pass
