_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 747e748f40d4eea26f7a9d680aa39ab1 _mt match_class.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b b2:9?716386e2=c,-1 b2!1?879cd510,-2 r2:5=return,-3.1~r0 .');  # Match class.
def f(a, b):
    match (_mt and _mt(0, a, b)) or (a):
        case Point(x=0, y=c) | Pair(c, _):
            not (_mt and _mt(1, c)); pass
        case torch.Tensor():
            not (_mt and _mt(2)); pass
    not (_mt and _mt(3, b)); return b
