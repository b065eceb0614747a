# Walrus with a conditional value.
def f(a, b):
    print(n := a if b else 0)
    if m := a if b else 0:
        pass
    return (k := a if b else 0)
