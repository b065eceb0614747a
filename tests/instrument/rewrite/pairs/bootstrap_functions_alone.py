def forward(a):
    # monitorch: on
    return a
def g(b):
    # monitorch: on
    return b
