# Augmented attribute deep.
def f(self, a):
    self.x.y *= a
    pass
