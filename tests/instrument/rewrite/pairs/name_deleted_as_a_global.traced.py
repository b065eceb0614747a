# Name deleted as a global.
_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 ded9940923c401a0327862745603918c _mt name_deleted_as_a_global.py --all 2,3 1,0,<module> 2,0,kill a2:1=x~lk. e1/1=y a4/0.1=x~k .'); x = [1]; _mt and _mt(0, x)
def kill(y):
    global x
    not (_mt and _mt(1, y)); del x
kill(x)
x = 3; not (_mt and _mt(2, x))
