# Call chain multiline.
def f(a, b):
    a.add_(
        b
    ).mul_(
        b
    )
    pass
