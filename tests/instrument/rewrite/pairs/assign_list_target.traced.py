_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 acf52d6f8e074e665b37a59d05bf763d _mt assign_list_target.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c=d,-1~r0@0.0@1.1 .');  # Assign list target.
def f(a, b):
    not (_mt and _mt(0, a, b)); [c, d] = a; _mt and _mt(1, c, d)
    pass
