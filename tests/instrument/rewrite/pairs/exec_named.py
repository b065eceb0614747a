# Exec named.
def f(a, b):
    exec("c = a")
    return eval("c") + b
