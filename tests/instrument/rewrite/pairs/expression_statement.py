# Expression statement.
def f(a, b):
    a
    a + b
    a[0]
    'text'
    1
    ...
    return a
