_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 099159083047706be8c8f1abaac7a2e2 _mt match_mapping.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b b2:9?d9c16cee=c=d=rest,-1 r2:5=return,-2.1~r0 .');  # Match mapping.
def f(a, b):
    match (_mt and _mt(0, a, b)) or (a):
        case {'x': c, 'y': [d], **rest}:
            not (_mt and _mt(1, c, d, rest)); pass
    not (_mt and _mt(2, b)); return b
