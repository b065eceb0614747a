x = 1
with (c(5), c(6)) if a else c(9) as w: pass
