# Return attribute.
def f(self):
    return self.x
