# Return without space brace.
def f(a, b):
    return{a: b}
