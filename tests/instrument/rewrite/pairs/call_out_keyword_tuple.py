# Call out keyword tuple.
def f(a, b, c):
    torch.max(a, 0, out=(b, c))
    pass
