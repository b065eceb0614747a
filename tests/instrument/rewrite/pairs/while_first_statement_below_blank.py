# While first statement below blank.
def f(a):

    while a:
        a -= 1
    return a
