# Call in place of call.
def f(a, b):
    a().zero_()
    pass
