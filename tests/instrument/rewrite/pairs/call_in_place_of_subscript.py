# Call in place of subscript.
def f(a, b):
    a[0].zero_()
    pass
