# Reads attributes.
def f(self, a):
    c = self.w @ a.b.c
    return c
