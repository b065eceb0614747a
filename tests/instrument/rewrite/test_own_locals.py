"""Temporaries are left out of the functions that can list their own local variables, and of no others.

The functions are told by names (`locals`, `vars`, `dir`, `eval`, `exec`, and what a file calls them),
never by the letters of a string.
"""

import textwrap

import pytest

from tests.support import compiler

pytestmark = pytest.mark.usefixtures("compiler_module")

#: Each is the body of `def f(x, o):` before `return x * 2`, or a whole file that defines f.
VALUES_ARE_RECORDED = {
    "docstring with the letters dir": '"""Multiplies directly, evaluates, executes."""',
    "docstring with the word": '"""See dir, vars and locals(); eval the result."""',
    "string": 'print("eval(x), locals()")',
    "string concatenated": 'print("loc" "als()" + "vars()")',
    "text of a format": 'print(f"the dir {x} of locals() {{eval}}")',
    "format's key": "print(f\"{o['dir']} {o.eval()} {x:exec}\")",
    "format's nested string": "print(f\"{o[f'dir{x}']}\")",
    "str.format": 'print("{dir} {0.eval}".format(x, dir=1))',
    "method": "o.eval(); o.dir.vars = o.exec",
    "keyword argument": "g(dir=x, eval=True)",
    "longer name": "directory = evaluated = x",
    "comment": "pass  # dir(), locals()",
    "local variable": "dir = o.path; g(dir)",
    "loop's variable": "\n    for dir in o: g(dir)",
    "comprehension's variable": "g([dir for dir in o])",
    "lambda's own frame": "g(lambda: locals(), lambda dir: dir)",
    "inner function's own frame": "\n    def h(): return locals()",
    "parameter": """
        def f(x, dir, vars=(), eval=False):
            if eval: print(dir, vars)
            return x * 2
        """,
    "method named eval": """
        class A:
            def eval(self, x): return x
        def eval(model): return model
        def f(x):
            eval(x)
            return x * 2
        """,
    "the module's variable": """
        dir = "/tmp"
        def f(x):
            print(dir)
            return x * 2
        """,
    "type of a parameter": """
        def f(x: "dir", y: "eval(z)" = 1) -> "locals()":
            return x * 2
        """,
}

LOCALS_CAN_BE_LISTED = {
    "locals": "g(**locals())",
    "vars": "g(vars())",
    "dir": "g(dir())",
    "handed over": "g(map(eval, o))",
    "eval of a string": 'eval("locals()")',
    "eval of a concatenation": 'eval("loc" + "als()")',
    "exec of a variable": 'code = "y = locals()"; exec(code)',
    "another name": 'run = eval; run("locals()")',
    "format": 'print(f"{locals()}")',
    "format's key": "print(f\"{dir()['x']}\")",
    "format within a format": "print(f\"{f'{locals()}'}\")",
    "format's specification": 'print(f"{x:{len(vars())}}")',
    "raw format of three quotes": 'print(rF"""\n{\nlocals()}""")',
    "format beside a string": 'print("dir" f"{dir()}")',
    "format that names itself": 'print(f"{locals()=}")',
    "str.format of locals": '"{x}".format(**locals())',
    "comprehension": "g([dir() for i in o])",
    "default of an inner function": "\n    def h(a=locals()): return a",
    "default of a lambda": "g(lambda a=locals(): a)",
    "decorator of an inner function": "\n    @g(locals())\n    def h(a): return a",
    "class in it": "\n    class A(g(locals())): pass",
    "parameter that is called": """
        def f(x, eval):
            eval("locals()")
            return x * 2
        """,
    "parameter with the builtin": """
        def f(x, run=eval):
            run("locals()")
            return x * 2
        """,
    "builtins": """
        import builtins
        def f(x):
            builtins.exec("locals()")
            return x * 2
        """,
    "builtins by another name": """
        import builtins as b
        def f(x):
            b.locals()
            return x * 2
        """,
    "builtins by a string": """
        import builtins
        def f(x):
            getattr(builtins, "locals")()
            return x * 2
        """,
    "imported by another name": """
        from builtins import locals as own, sum
        def f(x):
            own()
            return x * 2
        """,
    "another name of the module": """
        run, other = exec, 1
        def f(x):
            run("locals()")
            return x * 2
        """,
    "another name's other name": """
        d = (dir if True else None)
        e = d
        def f(x):
            e()
            return x * 2
        """,
    "a table of the module": """
        RUN = {"e": eval}
        def f(x):
            RUN["e"]("locals()")
            return x * 2
        """,
    "enclosing function's name": """
        def outer():
            e = eval
            def f(x):
                e("locals()")
                return x * 2
            return f
        """,
}


def has_temporary(source):
    text = textwrap.dedent(source).strip("\n") + "\n"
    if "def f(" not in text:
        text = f"def f(x, o):\n    {source}\n    return x * 2\n"
    compile(text, "m.py", "exec")
    result = compiler.EXTENSION.instrument(text.encode(), "m.py", functions=["f", "*.f"])
    return b"_mt_v := ( x * 2)" in result.text


@pytest.mark.parametrize("name", VALUES_ARE_RECORDED)
def test_the_returned_value_is_recorded(name):
    assert has_temporary(VALUES_ARE_RECORDED[name])


@pytest.mark.parametrize("name", LOCALS_CAN_BE_LISTED)
def test_no_temporary_where_locals_can_be_listed(name):
    assert not has_temporary(LOCALS_CAN_BE_LISTED[name])
