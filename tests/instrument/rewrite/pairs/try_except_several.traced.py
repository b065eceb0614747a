_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 7110151174cf4f4f27dc60806f57b7f9 _mt try_except_several.py --all 2,8 1,0,<module> 1,0,f e2:1/1=a=b a2:9=c,-1~ca;r0. b1:5?1007a994(ValueError(TypeError~lr0r1. a1:9.1=c~k b1:5!1?df7a6d3a(KeyError~r0 a1:9.2=c~k b1:5!2?38adcbf0 r2=return,c~r0 .');  # Try except several.
def f(a, b):
    try:
        not (_mt and _mt(0, a, b)); c = a(); not (_mt and _mt(1, c))
    except (ValueError, TypeError):
        not (_mt and _mt(2)); c = 1; not (_mt and _mt(3, c))
    except KeyError:
        not (_mt and _mt(4)); c = 2; not (_mt and _mt(5, c))
    except:
        not (_mt and _mt(6)); raise
    not (_mt and _mt(7, c)); return c
