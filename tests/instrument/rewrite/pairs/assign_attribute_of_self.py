# Assign attribute of self.
def f(self, a, b):
    self.x = a @ b
    pass
