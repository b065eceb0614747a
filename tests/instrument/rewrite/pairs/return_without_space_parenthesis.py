# Return without space parenthesis.
def f(a, b):
    return(a)+b
