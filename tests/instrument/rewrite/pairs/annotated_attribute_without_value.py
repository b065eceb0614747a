# Annotated attribute without value.
def f(self):
    self.x: int
    pass
