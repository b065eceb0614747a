# Call multiline.
def f(a):
    g(
        a,
    )
    a.x.add_(
        1,
    )
