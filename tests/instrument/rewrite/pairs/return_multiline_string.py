# Return multiline string.
def f(a, b):
    return """
    """ + a
