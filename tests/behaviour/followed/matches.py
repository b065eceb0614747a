def f(x):
    match x:
        case 0: r = "zero"
        case [a, b, *c] if a > 5:
            r = a
        case [a, b] | [a, b, _]:
            r = b
        case {"k": v, **rest}:
            r = v
        case str() as s:
            r = s
        case (1 | 2) as n if (m := n):
            r = m
        case _:
            r = None
    match x:
        case int(): q = 1
    return r
for v in (0, [9, 1, 2], [1, 2], {"k": 3, "l": 4}, "s", 2, 3.5, (1,)): print(f(v))
