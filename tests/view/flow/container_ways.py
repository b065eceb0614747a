"""Ways to put values into containers and to read them again: NAME, BODY, what `r` is made of.

`a`, `b` and `c` are tensors of the function's own, and `b` alone is NaN. BODY ends with what gives `r` its value.
"""

WAYS = [
    ("append", "l = []; l.append(a); l.append(b); l.append(c)\nr = torch.stack(l)", "abc"),
    ("append_index", "l = []\nl.append(a)\nl.append(b)\nl.append(c)\nr = l[1] * 2", "b"),
    ("append_other_index", "l = []\nl.append(a)\nl.append(b)\nr = l[0] * 2", "a"),
    ("append_last", "l = [a]\nl.append(b)\nr = l[-1] * 2", "b"),
    ("append_first_of", "l = [a]\nl.append(b)\nr = l[-2] * 2", "a"),
    ("append_loop", "l = []\nfor v in (a, b, c):\n    l.append(v)\nr = torch.stack(l)", "abc"),
    ("computed_index", "l = [a, b, c]\nfor i in range(2):\n    r = l[i] * 2", "b"),
    ("computed_key", "d = {'x': a, 'y': b}\nfor k in ('y', 'x'):\n    r = d[k] * 2", "a"),
    ("extend", "l = [a]\nl.extend([b, c])\nr = l[2] + l[1]", "bc"),
    ("insert", "l = [a, c]\nl.insert(1, b)\nr = l[1] * 2", "b"),
    ("insert_shifts", "l = [a, b]\nl.insert(0, c)\nr = l[1] * 2", "a"),
    ("add_in_place", "l = [a]\nl += [b]\nr = l[1] * 2", "b"),
    ("add_lists", "l = [a] + [b, c]\nr = torch.stack(l)", "abc"),
    ("times", "l = [b] * 2\nr = l[1] + 1", "b"),
    ("slice_assigned", "l = [a, a, a]\nl[1:] = [b, c]\nr = l[1] * 2", "b"),
    ("index_assigned", "l = [a, a]\nl[1] = b\nr = l[0] + l[1]", "ab"),
    ("index_assigned_over", "l = [b, b]\nl[1] = a\nr = l[1] * 2", "a"),
    ("item_from_item", "l = [a, a]\nl[1] = l[0] * 2\nr = l[1] * 2", "a"),
    ("append_from_item", "l = [a]\nl.append(l[-1] * 2)\nl.append(b)\nr = l[1] * 2", "a"),
    ("pop", "l = [a, b, c]\nr = l.pop(1) * 2 if l is None else l.pop(1)", "b"),
    ("pop_named", "l = [a, b, c]\np = l.pop(1)\nr = p * 2", "b"),
    ("pop_rest", "l = [a, b, c]\np = l.pop(1)\nr = torch.stack(l)", "ac"),
    ("pop_last_rest", "l = [a, c, b]\np = l.pop()\nr = torch.stack(l)", "ac"),
    ("popleft_rest", "q = deque([b, a, c])\np = q.popleft()\nr = torch.stack(list(q))", "ac"),
    ("pop_index_after", "l = [b, a, c]\np = l.pop(0)\nr = l[0] * 2", "a"),
    ("pop_key_rest", "d = {'x': a, 'y': b}\np = d.pop('y')\nr = torch.stack(list(d.values()))", "a"),
    ("pop_number_key", "d = {0: b, 1: a}\np = d.pop(0)\nr = d[1] * 2", "a"),
    ("pop_loop", "l = [a, b, c]\nwhile l:\n    p = l.pop()\n    r = p * 2", "a"),
    ("pop_push", "l = [b, a]\np = l.pop(0)\nl.append(c)\nr = torch.stack(l)", "ac"),
    ("pop_maybe", "l = [a, b]\np = l.pop() if len(l) > 5 else a\nr = torch.stack(l)", "ab"),
    ("pop_twice", "l = [a, b, c]\np, q = l.pop(), l.pop()\nr = q * 2", "b"),
    ("pop_expression", "l = [a, b, c]\np = l.pop(1) * 2\nr = p + 1", "b"),
    ("pop_pop", "l = [b, a, b]\np = l.pop()\nq = l.pop()\nr = q * 2", "a"),
    ("pop_moved", "l = [b, a, c]\np = l.pop(0)\nq = l.pop(0)\nu = l.pop(0)\nr = q * u", "ac"),
    ("pop_default", "d = {'x': a, 'y': b}\np = d.pop('z', a)\nr = p + d['y']", "ab"),
    ("popleft", "q = deque([a, b])\np = q.popleft()\nr = p * 2", "a"),
    ("deque", "q = deque()\nq.append(a)\nq.appendleft(b)\nr = q[0] * 2", "b"),
    ("deque_made", "q = deque()\nq.append(a * 1)\nq.append(b * 1)\nr = q[1] * 2", "b"),
    ("deque_limit", "q = deque(maxlen=2)\nfor v in (b, a, c):\n    q.append(v)\nr = torch.stack(list(q))", "ac"),
    ("dict", "d = {}\nd['x'] = a\nd['y'] = b\nr = d['y'] * 2", "b"),
    ("dict_other", "d = {}\nd['x'] = a\nd['y'] = b\nr = d['x'] * 2", "a"),
    ("dict_over", "d = {'x': b}\nd['x'] = a\nr = d['x'] * 2", "a"),
    ("dict_update", "d = {'x': a}\nd.update(y=b, z=c)\nr = d['y'] + d['x']", "ab"),
    ("dict_or", "d = {'x': a}\nd |= {'y': b}\nr = d['y'] * 2", "b"),
    ("dict_setdefault", "d = {}\nd.setdefault('x', b)\nr = d['x'] * 2", "b"),
    ("dict_setdefault_kept", "d = {'x': a}\nd.setdefault('x', b)\nr = d['x'] * 2", "a"),
    ("dict_of_lists", "d = {'x': [], 'y': []}\nd['x'].append(a)\nd['y'].append(b)\nr = torch.stack(d['y'])", "b"),
    ("dict_of_lists_other", "d = {'x': [], 'y': []}\nd['x'].append(a)\nd['y'].append(b)\nr = torch.stack(d['x'])", "a"),
    ("default_dict", "d = defaultdict(list)\nd['x'].append(a)\nd['x'].append(b)\nr = d['x'][1] * 2", "b"),
    ("dict_values", "d = {'x': a, 'y': c}\nd['z'] = b\nr = torch.stack(list(d.values()))", "abc"),
    ("dict_items_loop", "d = {'x': a, 'y': b}\nfor k, v in d.items():\n    r = v * 2", "b"),
    ("dict_pop", "d = {'x': a, 'y': b}\np = d.pop('y')\nr = p * 2", "b"),
    ("number_keys", "d = {3: a, 4: b}\nr = d[4] * 2", "b"),
    ("comprehension", "l = [v for v in (a, b, c)]\nr = l[1] * 2", "b"),
    ("comprehension_dict", "d = {k: v for k, v in zip('xy', (a, b))}\nr = d['y'] * 2", "b"),
    ("enumerate", "l = [a, b]\nfor i, v in enumerate(l):\n    r = v * 2", "b"),
    ("zip", "l, m = [a, c], [c, b]\nfor u, v in zip(l, m):\n    r = u * v", "bc"),
    ("zip_one", "l, m = [a, a], [c, b]\nfor u, v in zip(l, m):\n    r = u * 2", "a"),
    ("reversed", "l = [a, b]\nfor v in reversed(l):\n    r = v * 2", "a"),
    ("unpacked", "l = [a, b, c]\nu, v, w = l\nr = v * w", "bc"),
    ("star", "u, *v = [a, b, c]\nr = v[0] * 2", "b"),
    ("nested", "l = [[a, b], [c]]\nr = l[0][1] * 2", "b"),
    ("nested_put", "l = [[], []]\nl[0].append(a)\nl[1].append(b)\nr = torch.stack(l[1])", "b"),
    ("tuple", "t = (a, b)\nr = t[1] * 2", "b"),
    ("two_names", "l = []\nm = l\nm.append(a)\nm.append(b)\nr = torch.stack(l)", "ab"),
    ("two_names_item", "l = [a, a]\nm = l\nm[1] = b\nr = l[1] * 2", "b"),
    ("callee", "l = []\nput(l, a)\nput(l, b)\nr = torch.stack(l)", "ab"),
    ("callee_unnamed", "l = [c]\nif put(l, b) is None:\n    r = torch.stack(l)", "bc"),
    ("callee_returns", "l = made(a, b)\nr = l[1] * 2", "b"),
    ("callee_returns_then", "l = made(a, c)\nput(l, b)\nr = l[2] * 2", "b"),
    ("attribute", "s = Store()\ns.last = a\ns.last = b\nr = s.last * 2", "b"),
    ("attribute_list", "s = Store()\ns.hist.append(a)\ns.hist.append(b)\nr = torch.stack(s.hist)", "ab"),
    ("method", "s = Store()\ns.add(a)\ns.add(b)\nr = torch.stack(s.hist)", "ab"),
    ("method_item", "s = Store()\ns.add(a)\ns.add(b)\nr = s.hist[1] * 2", "b"),
    ("two_objects", "s, t = Store(), Store()\ns.add(a)\nt.add(b)\nr = torch.stack(s.hist)", "a"),
    ("two_objects_other", "s, t = Store(), Store()\ns.add(a)\nt.add(b)\nr = torch.stack(t.hist)", "b"),
    ("method_reads", "s = Store()\ns.add(a)\ns.add(b)\nr = s.total()", "ab"),
    ("object_in_object", "s = Store()\ns.inner = Store()\ns.inner.add(b)\nr = torch.stack(s.inner.hist)", "b"),
    ("data_class", "p = Pair(a, b)\nr = p.right * 2", "b"),
    ("data_class_written", "p = Pair(a, a)\np.right = b\nr = p.right * 2", "b"),
    ("named_tuple", "p = Both(a, b)\nr = p.right * 2", "b"),
    ("generator", "g = (v for v in [a, b])\nfor v in g:\n    r = v * 2", "b"),
    ("sorted", "l = sorted([b, a], key=lambda v: v.nan_to_num().sum().item())\nr = l[0] * l[1]", "ab"),
    ("reverse", "l = [a, b]\nl.reverse()\nr = l[0] * 2", "b"),
    ("cleared", "l = [b]\nl.clear()\nl.append(a)\nr = torch.stack(l)", "a"),
    ("deleted", "l = [b, a]\ndel l[0]\nl.append(c)\nr = torch.stack(l)", "ac"),
    ("copied", "l = [a, b]\nm = list(l)\nm.append(c)\nr = torch.stack(l)", "ab"),
    ("deque_moved", "q = deque(maxlen=2)\nfor v in (b, a, b, c):\n    q.append(v)\nr = q[0] * 2", "b"),
    ("inserted_in_loop", "l = []\nfor v in (a, b, c):\n    w = v * 1\n    l.insert(0, w)\nr = l[1] * 2", "b"),
    ("object_by_index", "l = [Store(), Store()]\nl[0].add(a)\nfor s in l:\n    s.add(b)\nr = torch.stack(s.hist)", "b"),
    ("closure", "l = []\ndef add(v):\n    l.append(v)\nadd(a)\nadd(b)\nr = torch.stack(l)", "ab"),
    ("returned_by_method", "s = Store()\ns.add(a)\ns.add(b)\nl = s.values()\nr = l[1] * 2", "b"),
    ("slot", "s = Slots(a)\ns.value = b\nr = s.value * 2", "b"),
    ("many", "l = []\nfor i in range(90):\n    l.append(a if i != 77 else b)\nr = torch.stack(l)", "ab"),
    ("many_index", "l = []\nfor i in range(90):\n    l.append(a if i != 77 else b)\nr = l[77] * 2", "b"),
]

PRELUDE = '''
import torch
from collections import defaultdict, deque, namedtuple
from dataclasses import dataclass
Both = namedtuple("Both", "left right")
@dataclass
class Pair:
    left: torch.Tensor
    right: torch.Tensor
class Store:
    def __init__(self):
        self.hist = []
    def add(self, value):
        self.hist.append(value)
    def values(self):
        return self.hist
    def total(self):
        whole = torch.stack(self.hist)
        return whole
class Slots:
    __slots__ = ("value",)
    def __init__(self, value):
        self.value = value
def put(values, value):
    values.append(value)
def made(u, v):
    values = [u, v]
    return values
good, bad = torch.tensor([2.0, 3.0]), torch.tensor([2.0, -3.0])
'''

# Each function begins with these.
ITEMS = "a = good.log()\nb = bad.log()\nc = good.exp()\n"
