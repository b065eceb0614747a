import os
# monitorch: on
a = os.sep
def f(b):
    return b
