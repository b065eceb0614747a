"""The bugs of samples/bugs: which line of the program in bad/ is wrong, and what to say of it."""

import dataclasses

from tests.support import paths

FOLDER = paths.ROOT / "samples" / "bugs"
GOOD, BAD = FOLDER / "good", FOLDER / "bad"


@dataclasses.dataclass(frozen=True)
class Bug:
    program: str
    what: str
    line: str  # as it stands in bad/
    name: str  # whose value is the first to differ
    told: str  # an expression that what is said of it matches
    added: str = ""  # a statement that may stand before the line and changes nothing
    longer: "tuple[str, str]" = ("", "")  # what to replace for a loop to turn once more

    @property
    def good(self):
        return GOOD / f"{self.program}.py"

    @property
    def bad(self):
        return BAD / f"{self.program}.py"

    def line_number(self, text):
        """Where the line stands in `text`; it stands there once."""
        found = [n for n, line in enumerate(text.splitlines(), 1) if line.strip() == self.line]
        assert len(found) == 1, (self.program, found)
        return found[0]


BUGS = [
    Bug(
        "attention_heads",
        "a transposed head",
        "k = self.key(x).view(batch, self.heads, length, size)",
        "k",
        r"strides .*values too: at ",
        added="weights = self.query.weight.mean()",
        longer=("range(2)", "range(3)"),
    ),
    Bug(
        "gated_mlp",
        "a wrong eps",
        "def __init__(self, width, eps=1e-3):",
        "eps",
        r"0\.001, A has 1e-6",
    ),
    Bug(
        "lstm_language",
        "dropout left on",
        "between = functional.dropout(first_state[0], 0.2)",
        "between",
        r"at \[0, \d+\] \S+, A has ",
        added="scores = x.sum()",
        longer=("range(8)", "range(9)"),
    ),
    Bug(
        "video_motion",
        "a missing cast",
        "motion = after - before",
        "motion",
        "dtype uint8, A has float32",
    ),
    Bug(
        "vae_sample",
        "an in-place write through a view",
        "sample = mean.add_(deviation * noise)",
        "sample",
        r"strides \[8, 1\] \(not contiguous\), A has \[4, 1\]",
        added="image = hidden.mean()",
        longer=("range(2)", "range(3)"),
    ),
    Bug(
        "gru_pooling",
        "a mask off by one",
        "is_word = places[None, :] <= lengths[:, None]",
        "is_word",
        r"at \[1, 4\] True, A has False",
    ),
    Bug(
        "mixer_blocks",
        "a wrong residual",
        "x = normed + mixed",
        "x",
        "values too: at ",
    ),
    Bug(
        "two_towers",
        "an overflow of float16",
        "length = x.pow(2).sum(dim=-1, keepdim=True).sqrt()",
        "length",
        "1 Inf of 4, A has none",
    ),
    Bug(
        "train_clipped",
        "a branch taken by accident",
        "if total > 0:",
        "control flow",
        "B took the if, A did not; all values before were equal",
        added="factor = total * 0",
        longer=("range(4)", "range(5)"),
    ),
    Bug(
        "audio_frames",
        "an un-contiguous input",
        "channels = sound.t()",
        "channels",
        r"strides \[1, 2\] \(not contiguous\), A has \[480, 1\]",
    ),
]
