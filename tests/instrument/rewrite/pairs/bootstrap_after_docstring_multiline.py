"""What
it is.
"""  # so
class A:
    def forward(self, x):
        return x
