# Function multiline signature.
def f(
    a,  # the first
    b=(1,
       2),
) -> None:
    c = a
    return c
