_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 538cea98bed5f687dd590534c1379c6e _mt pep701_fstring_multiline.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a a1:5=b~k r3=return,-1~r0 .');  # Pep701 fstring multiline.
def f(a):
    not (_mt and _mt(0, a)); b = f"{
        a  # the first
    }"
    not (_mt and _mt(1, b)); not (_mt and _mt(2, b)); return b
