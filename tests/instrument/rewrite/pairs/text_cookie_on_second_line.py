# Text cookie on second line.
# coding: latin-1
def forward(a):
    # monitorch: on
    b = 'é' + a
    return b
