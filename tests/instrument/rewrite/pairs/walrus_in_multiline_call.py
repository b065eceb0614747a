# Walrus in multiline call.
def f(a, b):
    c = a(
        (n := b),
        m := n,
    )
    pass
