l = [3, 1]
l.sort()
l.append(3); l.extend([1])
s = set()
s.add(3)
def f(x, out=None):
    x.append(1)
    x[0] = 3
    x[0] += 1
    x[1:2] = [5, 6]
    print(x)
    x.pop()
    return x.count(1)
f(l, out=l)
f(l, out=l); f(l)
class O:
    def __init__(self): self.l = [1]
    def add_(self, v):
        self.l.append(v)
        self.l[0] = v
        return self
o = O()
o.add_(3)
o.l.append(1)
o.add_(1).add_(2)
q = o.add_(4)
(o.add_(5))
if o: o.add_(6)
while l: l.pop()
for i in range(2): o.add_(i)
for i in range(2):
    o.add_(i)
