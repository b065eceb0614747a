_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 873f47fae25ab5e27b8504db28fcb5a5 _mt try_in_loop_with_continue.py --all 2,7 1,0,<module> 1,0,f e2:1/1=a=b l1:5=c,-1~er0 a2:13=d,-1~cc;r0. b3:9!1?ac1db00e b-2?e6aeb1ec(ValueError~r0 a5:13=b,b~pr0k. r1:5=return,d~r0 .');  # Try in loop with continue.
def f(a, b):
    for c in (_mt and _mt(0, a, b)) or (a):
        try:
            not (_mt and _mt(1, c)); d = c(); not (_mt and _mt(2, d))
        except ValueError:
            not (_mt and _mt(4)); continue
        else:
            not (_mt and _mt(3)); break
        finally:
            b += 1; not (_mt and _mt(5, b))
    not (_mt and _mt(6, d)); return d
