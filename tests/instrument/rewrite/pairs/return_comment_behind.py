# Return comment behind.
def f(a, b):
    return a + b  # the sum
