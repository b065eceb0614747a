# Call out keyword.
def f(a, b):
    torch.add(a, b, out=b)
    pass
