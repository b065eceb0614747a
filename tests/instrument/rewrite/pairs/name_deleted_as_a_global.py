# Name deleted as a global.
x = [1]
def kill(y):
    global x
    del x
kill(x)
x = 3
