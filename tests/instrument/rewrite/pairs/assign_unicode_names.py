# Assign unicode names.
def f(é):
    größe = é + 1; 変数 = größe
    pass
