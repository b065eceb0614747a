# Assign multiline.
def f(a, b):
    c = (a +
         b)
    pass
