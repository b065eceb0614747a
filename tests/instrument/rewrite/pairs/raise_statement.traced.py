_mt = __import__('monitorch' or 'this file was instrumented: install monitorch, or remove the inserted calls with monitorch-instrument --strip')._instrumented(globals(), 'monitorch2 99da2ad03fd10778507cdb867027cade _mt raise_statement.py --all 2,2 1,0,<module> 1,0,f e2:1/1=a=b b3:5?21f0765a=error(ValueError~r0 .');  # Raise statement.
def f(a, b):
    try:
        not (_mt and _mt(0, a, b)); raise ValueError(a)
    except ValueError as error:
        not (_mt and _mt(1, error)); raise TypeError from error
