# Return multiline call.
def f(a, b):
    return a(
        b,  # the second
    )
