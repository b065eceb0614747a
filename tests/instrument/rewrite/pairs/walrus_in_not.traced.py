_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 8b353bceeb7e0dc385c8dc3bfa7460d8 _mt walrus_in_not.py --all 2,5 1,0,<module> 1,0,f e2:1/1=a=b a1:13=n,-1~r0 b:5?a794e320,-2~r0 r:22=return,-3.1~r0 r1:5.1=0,-3~r0 .');  # Walrus in not.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (not (((n := a) is not _mt and _mt and _mt(1, n) or n))): not (_mt and _mt(2)); not (_mt and _mt(3, b)); return b
    not (_mt and _mt(4, n)); return n
