# While first statement below comment.
def f(a, b):
    # Counts down.
    while a:
        a -= 1
    return a
