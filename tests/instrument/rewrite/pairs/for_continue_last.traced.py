_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2de2db37e984d74b6648c0bfefcafb2b _mt for_continue_last.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b l1:5=c,-1~er0 a1:9=d,-1~r0 r2:5=return,-3.1~r0 .');  # For continue last.
def f(a, b):
    for c in (_mt and _mt(0, a, b)) or (a):
        not (_mt and _mt(1, c)); d = c; _mt and _mt(2, d)
        continue
    not (_mt and _mt(3, b)); return b
