# Assign type comment.
def f(a, b):
    c = []  # type: list[int]
    pass
