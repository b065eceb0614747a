# Annotated attribute multiline.
def f(self, a):
    self.x: list[
        int
    ] = [
        a,
    ]
    pass
