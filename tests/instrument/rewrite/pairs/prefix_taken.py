# Prefix taken.
_mt = 5
def f(_mt_v):
    return _mt + _mt_v
