def make():
    class A:
        class B:
            async def forward(self, x):
                not (_mt and _mt(0, self, x)); return (_mt_v := ( x + 1)) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
    return A
_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2c3fd57fce1a0c54b1b665b31551ff30 _mt select_forward_of_any_class.py --forward 2,2 1,0,<module> 3,0,make.<locals>.A.B.forward e4:13/1=self=x r1:17=return,-1.1~pr0k. .');
def forward(x):
    return x
