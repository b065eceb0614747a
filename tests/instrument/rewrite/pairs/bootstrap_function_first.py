def make():
    class A:
        def forward(self, x):
            return x
    return A
