f(a := b if c else d)
while a := b if c else d: pass
