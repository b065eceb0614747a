# Function decorated.
@cache
def f(a):
    return a
