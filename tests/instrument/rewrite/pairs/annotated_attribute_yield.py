# Annotated attribute yield.
def f(self, a):
    self.x: int = yield a
    self.y: int = (yield a)
    pass
