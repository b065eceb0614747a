_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 df4761fc2f85caf0be6a2752c01520e6 _mt assign_type_comment.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b a1:5=c~l. .');  # Assign type comment.
def f(a, b):
    not (_mt and _mt(0, a, b)); c = []; _mt and _mt(1, c)  # type: list[int]
    pass
