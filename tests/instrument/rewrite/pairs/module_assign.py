# Module assign.
x = 1
y = x
