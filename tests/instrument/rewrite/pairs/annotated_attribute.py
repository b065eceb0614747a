# Annotated attribute.
def f(self, a):
    self.x: int = a + 1
    pass
