_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 0e55aac3d537f66674eaa3de08482918 _mt walrus_in_fstring.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c~k .');  # Walrus in fstring.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = f"{(n := a)}"; _mt and _mt(1, c)
    pass
