a = 1; b = 2; c = a + b
if a: d = 1
elif b: d = 2
else: d = 3
if not a: d = 1
elif b: d = 2; e = 5
else: d = 3
for i in range(2): x = i; y = x
while a: a -= 1; z = a
def f(x): y = x; z = y; return z
f(1); f(2)
w = (1 +
     2)
v = f(
    3
); u = 4
(p,
 q) = 1, 2
t = [
    1,
    2,
][
    0
]; s = t
class O: pass
o = O()
o.x = (
    1
)
(o
 .y) = 3
o.l = [
    0]
o.l[
    0
] = 5
if (a :=
        3): b = 1
for k in (
    1,
    2,
): m = k
def g(
    x,
    y=2,
): return (
    x +
    y)
g(1)
with open(
    "/dev/null") as fh: n = 1
try: r = 1 // 0
except ZeroDivisionError as err: r = 2
finally: r2 = 3
x = 1 if a else 2
r = a and b or c
x = y = z = 0
if a:
    if b:
        c = 1
    else:
        c = 2
else:
    if b: c = 3
if a:
    pass
elif b:
    pass
else:
    pass
d = 1; d = 2; d = d + 1; e = d; a = e = d
def one(x): a = x; a = a + 1; a += 2; return a
one(2)
for i in range(2): a = i; a = a + i
n = (k := 1) + (k := 2)
