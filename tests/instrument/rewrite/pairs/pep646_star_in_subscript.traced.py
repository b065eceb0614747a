_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 d5099ab3bb87e39201d3fe9309b7f9ed _mt pep646_star_in_subscript.py --all 2,3 1,0,<module> 1,0,f e2:1/1=args~k@0* a1:5=c,-1~suxr0k.r0 r1=return,-1~r0 .');  # Pep646 star in subscript.
def f(*args: *Ts):
    not (_mt and _mt(0, args)); c = args[*args, 1]; _mt and _mt(1, c)
    not (_mt and _mt(2, c)); return c
