# Match class.
def f(a, b):
    match a:
        case Point(x=0, y=c) | Pair(c, _):
            pass
        case torch.Tensor():
            pass
    return b
