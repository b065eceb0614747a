# Call in place chain of attribute.
def f(self, a):
    self.x.mul_(2).add_(a)
    self.x[0].mul_(2).add_(a)
    a.b().mul_(2)
    pass
