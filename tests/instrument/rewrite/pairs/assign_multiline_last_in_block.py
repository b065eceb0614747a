# Assign multiline last in block.
def f(a):
    if a:
        b = g(
            a,
        )
    b = [
        a,
    ]
