# Call private method.
def f(a, b):
    a._
    a._()
    a.b__()
    pass
