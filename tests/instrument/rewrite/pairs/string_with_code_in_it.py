# String with code in it.
def f(a, b):
    c = 'return a; b = c'
    d = "if a: # monitorch: on"
    return c + d
