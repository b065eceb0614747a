# Match mapping.
def f(a, b):
    match a:
        case {'x': c, 'y': [d], **rest}:
            pass
    return b
