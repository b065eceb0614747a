# If inside else.
def f(a, b):
    if a:
        return 1
    else:
        if b:
            return 2
    return 3
