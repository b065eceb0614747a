_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 966ae3cb789998751123fe78411b7bb2 _mt walrus_in_multiline_call.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b a2:10=n,-1.1~r0 a1:9=m,-1~r0 a-2:5=c,-3,-3.1,n~ca;r0r1r2. .');  # Walrus in multiline call.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = a(
        (((n := b) is not _mt and _mt and _mt(1, n) or n)),
        ((m := n) is not _mt and _mt and _mt(2, m) or m),
    )
    not (_mt and _mt(3, c)); pass
