"""The same training with a scale that is wrong in the fourth digit: no value is beyond tolerance but the keys, and
rounding does not explain it."""

from tests.verdicts.pairs import benign_kernel_in_training as benign

GOOD = benign.GOOD
BAD = benign.BAD.replace("is_causal=True)", "is_causal=True, scale=0.3536)  # HERE")
