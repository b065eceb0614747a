# Module last statement def.
x = 1
def f(): return x
