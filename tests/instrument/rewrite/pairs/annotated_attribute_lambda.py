# Annotated attribute lambda.
def f(self, a):
    self.x: object = lambda: a
    self.y: object = a if a else 0
    self.z: object = (b := a)
    pass
