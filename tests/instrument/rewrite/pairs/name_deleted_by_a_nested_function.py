# Name deleted by a nested function.
def f():
    x = [1]
    def kill(y):
        nonlocal x
        del x
    kill(x)
    x = 2
    return x
