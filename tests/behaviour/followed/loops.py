def f(n):
    total = 0
    for i in range(n):
        if i == 2:
            continue
        total += i
        if i > 3: break
    else:
        total = -1
    while n:
        n -= 1
        if n == 1: continue
        total += 1
    else:
        total *= 2
    while True:
        n += 1
        if n < 3:
            continue
        if n > 4:
            break
        total -= 1
    while (m := n) > 2: n -= 1
    for a in (1, 2):
        for b in (3,):
            while True:
                while 1:
                    m = a
                    break
                break
    while n > 0:
        while n > 1: n -= 1
        n -= 1
    return total
print(f(3), f(6), f(0))
for i, (j, *k) in [(1, (2, 3, 4)), (5, (6,))]: print(i, j, k)
x = [0, 0]
for x[0] in range(2):
    pass
