# Augmented attribute.
def f(self, a):
    self.x += a
    pass
