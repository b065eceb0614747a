# Pep701 fstring quotes.
def f(a):
    b = f"{a["x"]} {f"{a}"}"
    return b
