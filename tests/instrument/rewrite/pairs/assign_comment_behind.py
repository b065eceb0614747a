# Assign comment behind.
def f(a, b):
    c = a  # the sum
    pass
