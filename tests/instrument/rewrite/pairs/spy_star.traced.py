from monitorch.spy import spy_save;  # Spy star.
class A:
    def f(self, x):
        y = z = x; spy_save("y", y, self); spy_save("z", z, self)
        y += 1; spy_save("y", y, self)
        w: int = y; spy_save("w", w, self)
        self.w = w
        for i in x:
            with i as j: k = j; spy_save("k", k, self)
        return z
