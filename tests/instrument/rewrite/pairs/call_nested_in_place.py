# Call nested in place.
def f(self, a, b):
    print(a.add_(b))
    self.x = a.mul_(b)
    return a.relu_()
