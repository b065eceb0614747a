_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 1e9ec073cd8ab7b28c0a8266f13f063a _mt if_inside_else.py --all 2,7 1,0,<module> 1,0,f e2:1/1=a=b b1:5?e40c292c,-1~r0 r1:9=return~k b1:5.1!1?e40c292c,-3~r0 b1:9?e70c2de5,-4.1~r0 r1:13.1=0~k r1:5.2=0~k .');  # If inside else.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a):
        not (_mt and _mt(1)); not (_mt and _mt(2, 1)); return 1
    else:
        if (_mt and _mt(3)) or (b):
            not (_mt and _mt(4)); not (_mt and _mt(5, 2)); return 2
    not (_mt and _mt(6, 3)); return 3
