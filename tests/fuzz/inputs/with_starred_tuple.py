x = 1
with (*a, b): pass
