# Try except several.
def f(a, b):
    try:
        c = a()
    except (ValueError, TypeError):
        c = 1
    except KeyError:
        c = 2
    except:
        raise
    return c
