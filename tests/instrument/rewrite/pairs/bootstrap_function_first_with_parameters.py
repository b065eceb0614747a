def make(a, b=1):
    class A:
        def forward(self, x):
            return x
    return A
