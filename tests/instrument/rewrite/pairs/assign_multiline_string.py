# Assign multiline string.
def f(a, b):
    c = """a
    b"""
    pass
