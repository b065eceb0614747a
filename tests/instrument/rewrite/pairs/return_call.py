# Return call.
def f(self, a):
    return self.layer(a)
