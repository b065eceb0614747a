# Function return annotation.
def f(a: "int") -> dict[str, int]:
    return {str(a): a}
