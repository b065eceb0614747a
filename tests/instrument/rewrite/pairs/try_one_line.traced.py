_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 ede0f5f3defc1d368dded4f54d42387d _mt try_one_line.py --all 2,6 1,0,<module> 1,0,f e2:1/1=a=b a1:10=c,-1~ca;r0. b1:5?e6aeb1ec(ValueError~r0 a:24.1=c,-3.1~r0 a1:14=d,c~r0 r1:5=return,c~r0 .');  # Try one line.
def f(a, b):
    try: not (_mt and _mt(0, a, b)); c = a(); not (_mt and _mt(1, c))
    except ValueError: not (_mt and _mt(2)); c = b; not (_mt and _mt(3, c))
    finally: d = c; not (_mt and _mt(4, d))
    not (_mt and _mt(5, c)); return c
