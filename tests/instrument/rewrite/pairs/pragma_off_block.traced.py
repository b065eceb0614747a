_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 c5e5a25d001658f096a645db6396ecbb _mt pragma_off_block.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a a1:5=b,-1~r0 b1?e70c2de5,-1~r0 a1:9=c,-2~r0 a3:5=e,-3~r0 r1=return,-1~r0 .');  # Pragma off block.
def f(a):
    not (_mt and _mt(0, a)); b = a; _mt and _mt(1, b)
    if b:
        not (_mt and _mt(2)); c = b; _mt and _mt(3, c)
        # monitorch: off
        d = c
    e = b; _mt and _mt(4, e)
    not (_mt and _mt(5, e)); return e
