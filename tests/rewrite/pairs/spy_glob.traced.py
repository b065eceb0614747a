# Spy glob.
class A(*((spy_save := __import__('monitorch.spy').spy.spy_save) and () or ())):
    def forward(self, x):
        query = self.q(x); spy_save("query", query, self)
        key = self.k(x); spy_save("key", key, self)
        value = query + key
        return value
