# Call in place of attribute.
def f(self, a):
    self.x.add_(a)
    pass
