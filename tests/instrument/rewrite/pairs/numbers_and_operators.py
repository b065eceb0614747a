# Numbers and operators.
def f(a, b):
    c = 1if a else 2
    d = a<<b>>1
    c**=-d
    c//=~d
    return c@d
