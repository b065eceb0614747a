"""Lines of a class's body, its methods, a property and a class method."""
# begin
import numpy as np

scale = np.array([1, 2, 3])


class Scaler:
    factors = scale * 2
    offset = factors + 1

    def __init__(self, shift):
        self.shift = shift

    @property
    def total(self):
        moved = self.factors + self.shift
        return moved

    @classmethod
    def standard(cls):
        base = cls.offset - 1
        return cls(base)

    @staticmethod
    def double(x):
        twice = x + x
        return twice

    def __call__(self, x):
        y = x * self.factors + self.shift
        return y


scaler = Scaler.standard()
out = scaler(scale)
end = Scaler.double(out) + scaler.total
# end
