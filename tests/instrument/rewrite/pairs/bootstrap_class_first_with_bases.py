class A(B, metaclass=C):
    def forward(self, x):
        return x
