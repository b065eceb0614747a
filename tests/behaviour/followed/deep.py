def d(n):
    x = n
    if n:
        y = d(n - 1)
        z = y
    else:
        y = 0
    return y
d(150)
def many():
    a0=a1=a2=a3=a4=a5=a6=a7=a8=a9=1
    (b0,b1,b2,b3,b4,b5,b6,b7,b8,b9,b10,b11,b12,b13,b14,b15,b16,b17,b18,b19) = range(20)
    return a0
many()
class It:
    def __iter__(self): return self
    def __init__(self): self.n = 0
    def __next__(self):
        self.n += 1
        if self.n > 3: raise StopIteration
        return self.n
    def __bool__(self):
        t = self.n
        return t > 2
    def __setattr__(self, k, v):
        kk = k
        object.__setattr__(self, k, v)
    def __setitem__(self, k, v):
        q = v
    def __del__(self):
        gone = 1
it = It()
for v in it: w = v
if it: a = 1
while not It(): a = 2; break
it[0] = 3
it.z = 4
it = None
x = It()
x = 3
