# Assign attribute multiline.
def f(a):
    a.x = g(
        a,
    )
    a.y = [
        a,
    ]
