_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 1d20b95ebd1340144eb84182e9671f01 _mt assign_unicode_names.py --all 2,3 1,0,<module> 1,0,f e2:1/1=é a1:5=größe,-1~pr0k. a:20=変数,-1~r0 .');  # Assign unicode names.
def f(é):
    not (_mt and _mt(0, é)); größe = é + 1; not (_mt and _mt(1, größe)); 変数 = größe; _mt and _mt(2, 変数)
    pass
