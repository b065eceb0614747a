"""Two generators that are open at once, one that is left early, one that delegates."""

import numpy as np
from monitorch.tracker import auto_diff, var_tracker


@var_tracker("x")
def turns(x, count):
    for turn in range(count):
        x = x + 1
        got = yield x
        if got is not None:
            x = x * got
    return "done"


@var_tracker("result")
def delegates(x):
    result = yield from turns(x, 2)
    yield result


@auto_diff
def consume(first, second):
    pairs = list(zip(first, second))
    return len(pairs)


consume(turns(np.zeros(1), 2), turns(np.full(1, 10.0), 3))
sent = turns(np.zeros(1), 3)
next(sent)
sent.send(5)
sent.close()
print(list(delegates(np.zeros(1)))[-1])
thrown = turns(np.zeros(1), 3)
next(thrown)
try:
    thrown.throw(KeyError("in"))
except KeyError as error:
    print(error)
