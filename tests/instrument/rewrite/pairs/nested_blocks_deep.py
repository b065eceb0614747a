# Nested blocks deep.
def f(a, b):
    for c in a:
        if c:
            while b:
                with c as d:
                    try:
                        e = d
                    finally:
                        b = 0
    return b
