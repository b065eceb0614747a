# While true.
def f(a, b):
    while True:
        if a(): break
    return b
