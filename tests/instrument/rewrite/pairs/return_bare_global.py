# Return bare global.
def f():
    return GLOBAL
