_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 6a30808812a9b84a87e03972607a9660 _mt walrus_in_elif.py --all 2,4 1,0,<module> 1,0,f e2:1/1=a=b b1:5?e40c292c,-1~r0 a2:11=n,-2.1~r0 b:5!1?ad22a458,-3.1~r0 .');  # Walrus in elif.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a):
        not (_mt and _mt(1)); pass
    elif (((n := b) is not _mt and _mt and _mt(2, n) or n)):
        not (_mt and _mt(3)); pass
