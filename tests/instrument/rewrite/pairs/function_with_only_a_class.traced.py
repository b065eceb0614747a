_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 77c5bca5ddc663f313bc63aa47a59c55 _mt function_with_only_a_class.py --all 2,1 1,0,<module> 1,0,f e2:1/1=a .');  # Function with only a class.
def f(a):
    class A(*((_mt and _mt(0, a)) or ())): pass
