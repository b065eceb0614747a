_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 730d2c5469cebe15e6d378aaecd282b2 _mt assign_multiline_string.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c~k .');  # Assign multiline string.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = """a
    b"""
    not (_mt and _mt(1, c)); pass
