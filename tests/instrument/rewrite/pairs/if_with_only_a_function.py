# If with only a function.
def f(a):
    if a:
        def g(): return 1
    else:
        @a
        class A: pass
