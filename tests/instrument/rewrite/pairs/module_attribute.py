# Module attribute.
import m
m.x = f()
m.y = 1
