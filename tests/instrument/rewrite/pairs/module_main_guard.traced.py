_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 2749f15b8888149f2ae78ca2a36e917e _mt module_main_guard.py --all 2,5 1,0,<module> 1,0,main e2:1/1 r1:5=return~k b2:1/0?5d85a55b(__name__~ur0k. a1:5=code(main~cmain;r0. m1=2(exit(-1~cexit;kr1. .');  # Module main guard.
def main():
    not (_mt and _mt(0)); not (_mt and _mt(1, 0)); return 0

if __name__ == "__main__":
    not (_mt and _mt(2)); code = main(); _mt and _mt(3, code)
    exit(code); not (_mt and _mt(4, code))
