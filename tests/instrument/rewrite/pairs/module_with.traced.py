# Module with.
with (_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 babbd9f994b422c2877d0a0ad47782b3 _mt module_with.py --all 1,3 1,0,<module> a2:1=file(open(__file__~copen;kr1. a1:5=text(-1~mread;r0. a1:1=x(3~r0 .')) and () or (open(__file__)) as file:
    not (_mt and _mt(0, file)); text = file.read(); not (_mt and _mt(1, text))
x = text; not (_mt and _mt(2, x))
