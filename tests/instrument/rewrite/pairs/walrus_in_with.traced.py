_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 32c6d7608dce185a4bde6ee1c3b2ef49 _mt walrus_in_with.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b a1:11=n,-1~r0 a:5=c,-2~r0 .');  # Walrus in with.
def f(a, b):
    with (_mt and _mt(0, a, b)) or ((((n := a) is not _mt and _mt and _mt(1, n) or n))) as c:
        not (_mt and _mt(2, c)); pass
