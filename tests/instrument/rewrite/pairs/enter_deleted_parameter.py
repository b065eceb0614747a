# Enter deleted parameter.
def f(a):
    del a
