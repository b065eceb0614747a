from monitorch.spy import spy_save;  # Spy glob.
class A:
    def forward(self, x):
        query = self.q(x); spy_save("query", query, self)
        key = self.k(x); spy_save("key", key, self)
        value = query + key
        return value
