# Spy star.
class A:
    def f(self, x):
        y = z = x
        y += 1
        w: int = y
        self.w = w
        for i in x:
            with i as j: k = j
        return z
