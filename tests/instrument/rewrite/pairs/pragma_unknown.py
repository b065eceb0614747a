class M:
    def forward(self, x):
        # monitorch: maybe
        # monitorchestra: on
        y = x
        return y
