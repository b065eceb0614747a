def f():
    class O: pass
    return O
