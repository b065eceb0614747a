# Call function.
def f(a, b):
    print(a)
    b(a)
    pass
