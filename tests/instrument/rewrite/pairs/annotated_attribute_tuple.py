# Annotated attribute tuple.
def f(self, a):
    self.x: tuple = a, 1
    self.y: tuple = *a, 1
    pass
