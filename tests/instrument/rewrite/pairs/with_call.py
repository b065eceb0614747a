# With call.
def f(a, b):
    with torch.no_grad(), b(a):
        d = a
    return d
