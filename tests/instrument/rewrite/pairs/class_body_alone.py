# Class body alone.
class A(B):
    x = 1
    y: int = x + 1
    z = w = [x]
    x += 1
    for i in range(3):
        z = i
    if x:
        v = (u := 2)
    def f(self, a):
        b = a
        return b
