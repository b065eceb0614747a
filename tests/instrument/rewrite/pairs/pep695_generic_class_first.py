class A[T]:
    def forward(self, a):
        return a
