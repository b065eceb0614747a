# Call out keyword attribute.
def f(self, a):
    torch.add(a, a, out=self.x)
    pass
