# Module globals named.
names = globals()
x = 1
