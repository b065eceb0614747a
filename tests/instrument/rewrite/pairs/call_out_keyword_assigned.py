# Call out keyword assigned.
def f(a, b):
    c = torch.add(a, b, out=b)
    pass
