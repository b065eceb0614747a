"""The fixture `monitorch_golden`: a kept trace of the test, with which each later run is
compared."""

import hashlib
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile

from monitorch._run import command as _command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    import pytest

_LINES = 40  # the most lines of `monitorch diff` that are printed
_NAME_MAX = 100


class Golden:
    """The golden trace of one test. A call sets options of `monitorch diff`."""

    path: pathlib.Path
    """The path of the golden trace."""

    def __init__(self, item: "pytest.Item") -> None:
        self._item = item
        self._options: "list[str]" = []
        self._reason: "str | None" = None  # the reason why nothing is compared
        self.path = item.path.parent / "golden" / item.path.stem / (_name(item) + ".mtrace")

    def __call__(
        self,
        *,
        rtol: "float | None" = None,
        atol: "float | None" = None,
        exact: bool = False,
        across_precisions: bool = False,
        ignore: "str | Iterable[str]" = (),
    ) -> "Golden":
        """Sets how this test is compared, by the options of `monitorch diff` of the same names."""
        options = []
        for name, value in (("rtol", rtol), ("atol", atol)):
            if value is not None:
                options.append(f"--{name}={float(value)!r}")
        options += ["--exact"] * exact + ["--across-precisions"] * across_precisions
        names = [ignore] if isinstance(ignore, str) else ignore
        self._options = options + [f"--ignore={name}" for name in names]
        return self

    def __repr__(self) -> str:
        return f"<monitorch golden trace {_short(self.path)}>"

    def leave_out(self, reason: str) -> None:
        """Skips the comparison and the writing. The reason is "" if the test has failed by
        itself."""
        self._reason = reason
        if reason:
            self._report(f"{_short(self.path)}: not compared: {reason}")

    def compare(self, trace: str, may_write: bool) -> str:
        """Compares the run's trace with the golden one. Returns the text of the test's failure, or
        ""."""
        if self._reason is not None:
            return ""
        wants_new = bool(self._item.config.option.monitorch_update_golden)
        if not self.path.exists():
            if not wants_new and _is_ci():
                return (
                    f"{_short(self.path)}: there is no golden trace of this test, and under CI none is "
                    f"written\n\nwrite and commit it: {self._update()}"
                )
            return self._write(trace) if may_write else ""
        code, text = self._diff(trace)
        if code == 0:
            return ""
        if wants_new and may_write:
            return self._write(trace)
        return self._describe(trace, code, text)

    def _diff(self, trace: str) -> "tuple[int, str]":
        command = _command.find_command()
        if command is None:
            return 3, "the program monitorch was not found, which compares traces"
        words = [command, "diff", "--color=never", *self._options, str(self.path), trace]
        done = subprocess.run(words, capture_output=True, text=True)
        return done.returncode, (done.stdout or done.stderr).rstrip()

    def _describe(self, trace: str, code: int, text: str) -> str:
        """The result of diff, and the command to type next."""
        from monitorch._record.nonfinite import _shorten

        lines = text.splitlines()
        if len(lines) > _LINES:
            lines = [*lines[:_LINES], f"… ({len(lines) - _LINES} more lines)"]
        new = self._keep(trace)
        words = ["monitorch", "diff", *self._options, str(_short(self.path)), str(_short(new))]
        details = (
            f"details:       {shlex.join(words)}  (-o diff.html draws it)\n" if code == 1 else ""
        )
        return (
            _shorten("\n".join(lines)) + f"\n\ngolden trace:  {_short(self.path)}\n"
            f"this run:      {_short(new)}\n{details}"
            f"accept:        {self._update()}"
        )

    def _update(self) -> str:
        return shlex.join(["pytest", "--monitorch-update-golden", self._item.nodeid])

    def _keep(self, trace: str) -> pathlib.Path:
        """Copies the run's trace, for use after pytest has ended."""
        cache = getattr(self._item.config, "cache", None)
        if cache is not None:
            folder = cache.mkdir("monitorch")
        else:
            folder = pathlib.Path(tempfile.mkdtemp(prefix="monitorch-golden-"))
        name = f"{self.path.parent.name}-{self.path.name}"
        return pathlib.Path(shutil.copyfile(trace, folder / name))

    def _write(self, trace: str) -> str:
        if not _has_events(trace):
            return (
                "nothing was recorded, so there is no golden trace to write: the test runs no code of "
                "files below the current folder or pytest's rootdir, or --monitorch-include leaves it out"
            )
        was_there = self.path.exists()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        shutil.copyfile(trace, temporary)
        os.replace(temporary, self.path)
        self._report(f"golden trace {'rewritten' if was_there else 'written'}: {_short(self.path)}")
        return ""

    def _report(self, text: str) -> None:
        """Adds a line to pytest's summary; properties of a report also arrive from workers of
        pytest-xdist."""
        self._item.user_properties.append(("monitorch", text))


def _has_events(trace: str) -> bool:
    from monitorch._load import load

    return len(load(trace, columns=["seq"])) > 0


def _is_ci() -> bool:
    return os.environ.get("CI", "").lower() not in ("", "0", "false", "no")


def _short(path: pathlib.Path) -> str:
    """The path relative to the current folder."""
    return os.path.relpath(path) if path.is_relative_to(pathlib.Path.cwd()) else str(path)


def _name(item: "pytest.Item") -> str:
    """The test's id as a file name; a hash separates ids that would get the same name."""
    own = item.nodeid.partition("::")[2] or item.name
    name = re.sub(r"[^\w.,=+\[\]-]", "_", own.replace("::", "."))
    if name != own.replace("::", ".") or len(name) > _NAME_MAX or name.startswith("."):
        name = f"{name.lstrip('.')[:_NAME_MAX]}-{hashlib.sha256(own.encode()).hexdigest()[:8]}"
    return name
