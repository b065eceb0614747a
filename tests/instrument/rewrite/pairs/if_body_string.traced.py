_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 e1f472ac7725fa0863ff62d113096d7b _mt if_body_string.py --all 2,3 1,0,<module> 1,0,f e2:1/1=a=b b1:5?e40c292c,-1~r0 r2=return,-2.1~r0 .');  # If body string.
def f(a, b):
    if (_mt and _mt(0, a, b)) or (a):
        not (_mt and _mt(1)); 'only text'
    not (_mt and _mt(2, b)); return b
