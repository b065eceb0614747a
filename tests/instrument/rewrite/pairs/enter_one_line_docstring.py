# Enter one line docstring.
def f(a): "What f does."
