# Assign subscript of what a call returns: a view of the method's object, of an argument.
import numpy as np
def f(self, a, b):
    a.numpy()[0] = 1
    a.detach().numpy()[0] += b
    np.asarray(a)[0] = b
    b["k"].numpy()[0] = 1
    self.w.numpy()[0] = 1
    a.numpy()[0], c = 1, 2
    a.numpy()[0] = c = 2
    f(a)(b)[0] = 1
    pass
