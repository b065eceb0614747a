def f(n):
    try:
        x = 10 // n
        y = x
    except ZeroDivisionError as e:
        x = -1
        z = 2
    except (ValueError, KeyError):
        x = 3
    else:
        y = 5
    finally:
        w = 6; v = w
    return x
def g(n):
    try:
        r = f(n) + 1
        return r
    finally:
        q = 3
def h(n):
    for i in range(3):
        try:
            if i == n: continue
            if i == 2: break
            a = i
        finally:
            b = i
    return b
def k():
    try:
        raise KeyError("x")
    except KeyError:
        r = 1
        return r
def m():
    x = 1
    x = [][2]
    y = 3
def n():
    try:
        m()
    except IndexError as e:
        message = str(e)
        raise ValueError from e
def o():
    try:
        try:
            n()
        except TypeError:
            a = 1
        finally:
            b = 2
    except ValueError: c = 3
    except:
        d = 3
    try: a = 1
    except: b = 1
    return c
print(f(0), f(5), g(1), g(0), h(1), k(), o())
try:
    m()
except Exception: z = 1
def p():
    try:
        pass
    except ValueError:
        a = 3
    else: b = 1
    a, b = 1, 2
    a, b = [1][4], 1
try:
    p()
except IndexError: pass
