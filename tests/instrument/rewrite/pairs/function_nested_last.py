# Function nested last.
def f(a):
    global g
    b = a
    def g(): return 1
