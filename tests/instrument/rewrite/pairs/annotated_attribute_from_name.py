# Annotated attribute from name.
def f(self, a):
    self.x: int = a
    pass
