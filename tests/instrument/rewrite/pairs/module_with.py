# Module with.
with open(__file__) as file:
    text = file.read()
x = text
