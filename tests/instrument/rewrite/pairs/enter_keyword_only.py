# Enter keyword only.
def f(*, a):
    return a
