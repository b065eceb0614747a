# Augmented subscript of attribute.
def f(self, i):
    self.x[i] -= 1
    pass
