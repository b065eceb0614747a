# Pep701 fstring multiline.
def f(a):
    b = f"{
        a  # the first
    }"
    return b
