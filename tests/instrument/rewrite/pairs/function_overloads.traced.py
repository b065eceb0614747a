# Function overloads.
class A(*((_mt := __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 7ba1f71397dcebf29b1a08745e06e810 _mt function_overloads.py --all 3,4 1,0,<module> 3,0,A.x 2,3, e4:5/1=self r:18=return,self._x~r0 e2:5/2=0=value a1:9=2,-1.1,-1~r0 .')) and () or ())):
    @property
    def x(self): not (_mt and _mt(0, self)); return (_mt_v := ( self._x)) is not _mt and _mt and _mt(1, _mt_v) or _mt_v
    @x.setter
    def x(self, value):
        not (_mt and _mt(2, self, value)); self._x = value; not (_mt and _mt(3, value))
