import threading
done = []
def work(n):
    x = n
    for i in range(n):
        x += i
    done.append(x)
    return x
def run(n):
    t = threading.Thread(target=work, args=(n,))
    return t
started = [run(i) for i in range(3)]
for i in range(3):
    (lambda t: (t.start(), t.join()))(started[i])
