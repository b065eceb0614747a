"""`monitorch diff` of folders of saved tensors: the first that differs in the order of saving,
tolerances, what one folder has alone, damaged files, options that are for traces alone."""

from __future__ import annotations

import json
import math
import pathlib
import re
import sys
from collections.abc import Callable

import pytest

from tests.support import paths, viewer

torch = pytest.importorskip("torch")
if str(paths.PYTHON_PATH) not in sys.path:
    sys.path.insert(0, str(paths.PYTHON_PATH))
from monitorch.spy import DebugContext, TensorSaver, spy_save  # noqa: E402


def diff(*words: object, exit_code: int) -> str:
    """What diff prints; its exit code is as expected, and nothing else is said."""
    done = viewer.run("diff", *words)
    assert done.returncode == exit_code, done.stdout + done.stderr
    assert done.stderr == ""
    return done.stdout


def diff_json(*words: object, exit_code: int) -> tuple[list[dict], dict]:
    """The findings, and the verdict."""
    lines = diff("--json", *words, exit_code=exit_code).splitlines()
    records = [json.loads(line) for line in lines]
    assert [r["record"] for r in records].count("verdict") == 1
    return records[:-1], records[-1]


def save(folder: pathlib.Path, tensors: dict[str, object], **options: object) -> pathlib.Path:
    """Saves each by its name, `prefix/module/name` or the last parts of that, in order."""
    saver = TensorSaver(folder, **options)
    for full_name, tensor in tensors.items():
        *outer, name = full_name.split("/")
        module = outer.pop() if outer else None
        prefix = outer.pop() if outer else ""
        with DebugContext(saver, prefix=prefix, module_path_override=module):
            spy_save(name, tensor)
    return folder


@pytest.fixture
def pair(tmp_path: pathlib.Path) -> Callable[..., list[pathlib.Path]]:
    """Saves A's and B's tensors in two folders."""

    def make(a: dict[str, object], b: dict[str, object], **options: object) -> list[pathlib.Path]:
        return [save(tmp_path / "a", a, **options), save(tmp_path / "b", b, **options)]

    return make


def noise(size: int = 64, seed: int = 0) -> torch.Tensor:
    return torch.randn(size, generator=torch.Generator().manual_seed(seed))


# Equal


def test_equal_folders_are_one_line(pair):
    tensors = {"step0/enc/q": noise(), "step0/enc/k": noise(seed=1), "step1/enc/q": noise(seed=2)}
    assert diff(*pair(tensors, tensors), exit_code=0) == "equal: 3 tensors\n"


def test_within_tolerance(pair):
    folders = pair({"x": noise()}, {"x": noise() * (1 + 1e-6)})
    assert diff(*folders, exit_code=0) == "equal: 1 tensor, 1 of them within tolerance\n"


def test_exact_sees_the_last_bit(pair):
    a = noise()
    b = a.clone()
    b[5] = torch.nextafter(b[5], torch.tensor(9.0))
    folders = pair({"x": a}, {"x": b})
    assert diff(*folders, exit_code=0).startswith("equal: ")
    text = diff("--exact", *folders, exit_code=1)
    assert "values at [5]" in text and "1 ULP, 1 of 64 beyond tolerance" in text


def test_exact_sees_the_sign_of_zero(pair):
    folders = pair({"x": torch.zeros(3)}, {"x": -torch.zeros(3)})
    diff(*folders, exit_code=0)
    assert "different bytes, but the same numbers" in diff("--exact", *folders, exit_code=1)


def test_equal_to_the_bit(pair):
    tensors = {"x": noise()}
    assert diff("--exact", *pair(tensors, tensors), exit_code=0) == "equal: 1 tensor to the bit\n"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_nan_equals_nan_and_an_infinity_itself(pair, value):
    a, b = noise(), noise() * (1 + 1e-6)
    a[3] = b[3] = value
    diff(*pair({"x": a}, {"x": b}), exit_code=0)


@pytest.mark.parametrize(
    "dtype",
    [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.complex64, torch.int64,
     torch.uint8, torch.bool, torch.float8_e4m3fn],
)  # fmt: skip
def test_every_dtype_is_compared(pair, dtype):
    a = torch.arange(6).reshape(2, 3).to(dtype)
    b = a.clone()
    b[1, 0] = not bool(a[1, 0]) if dtype == torch.bool else torch.tensor(8).to(dtype)
    folders = pair({"same": a, "x": a}, {"same": a, "x": b})
    assert "x.call0: values at [1, 0]" in diff(*folders, exit_code=1)


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2)])
def test_shapes_without_dimensions_or_elements(pair, shape):
    tensors = {"x": torch.ones(shape)}
    assert diff(*pair(tensors, tensors), exit_code=0) == "equal: 1 tensor\n"


def test_a_whole_integer_is_compared_exactly(pair):
    folders = pair({"x": torch.tensor([2**60])}, {"x": torch.tensor([2**60 + 1])})
    diff("--rtol", "1", *folders, exit_code=1)


# Different


def test_the_first_divergence_is_the_first_saved(pair):
    # By name `z` would come last, and by A's order first.
    a = {"step0/enc/x": noise(), "step0/enc/z": noise(), "step0/enc/a": noise()}
    b = {**a, "step0/enc/z": noise() + 1, "step0/enc/a": noise() + 2}
    text = diff(*pair(a, b), exit_code=1)
    lines = text.splitlines()
    here = re.escape(__file__)
    assert re.match(here + r":\d+: first divergence: step0\.enc\.z\.call0: values at \[", lines[0])
    assert lines[1] == "  in save"
    assert lines[2].startswith("  A:  float32 [64]  min ")
    assert lines[3].startswith("  B:  float32 [64]  min ")
    assert lines[4].startswith("  distance: max abs 1, max rel ")
    assert lines[5].startswith("  before it 1 is equal: step0.enc.x.call0 (")
    assert "  3 tensors in both: 1 equal, 2 different" in lines
    listed = lines[lines.index("  different, in the order in which they were saved:") + 1 :]
    assert ["step0.enc.z.call0" in listed[0], "step0.enc.a.call0" in listed[1]] == [True, True]
    assert len(listed) == 2


def test_quiet_is_the_first_line(pair):
    folders = pair({"x": noise()}, {"x": noise() + 1})
    text = diff("-q", *folders, exit_code=1)
    assert text == diff(*folders, exit_code=1).splitlines(keepends=True)[0]


def test_files_that_tell_no_place(tmp_path):
    for folder, shift in (("a", 0), ("b", 1)):
        (tmp_path / folder).mkdir()
        torch.save(noise() + shift, tmp_path / folder / "step0.enc.q.call2.pt")
    text = diff(tmp_path / "a", tmp_path / "b", exit_code=1)
    assert text.startswith("step0.enc.q.call2: first divergence: values at [")
    assert "different, by name (the files do not hold the order of saving):" in text


def test_older_files_are_matched_with_newer_ones(tmp_path):
    (tmp_path / "a").mkdir()
    torch.save(noise(), tmp_path / "a" / "step0.enc.attn.q.call0.pt")
    save(tmp_path / "b", {"step0/enc.attn/q": noise()})
    assert diff(tmp_path / "a", tmp_path / "b", exit_code=0) == "equal: 1 tensor\n"


@pytest.mark.parametrize(
    ("b", "words"),
    [
        (torch.ones(2, 3), "shape [2, 3], A has [3, 2]"),
        (torch.ones(3, 2, dtype=torch.float64), "dtype float64, A has float32"),
        (torch.ones(3, 2, dtype=torch.int32), "dtype int32, A has float32"),
    ],
)
def test_forms(pair, b, words):
    assert f"x.call0: {words}\n" in diff(*pair({"x": torch.ones(3, 2)}, {"x": b}), exit_code=1)


def test_other_strides_are_the_same_values(tmp_path):
    x = noise(12).reshape(3, 4)
    for folder, tensor in (("a", x), ("b", x.t().contiguous().t())):
        (tmp_path / folder).mkdir()
        torch.save(tensor, tmp_path / folder / "x.pt")
    assert diff(tmp_path / "a", tmp_path / "b", exit_code=0) == "equal: 1 tensor\n"
    torch.save((x + 1).t().contiguous().t(), tmp_path / "b" / "x.pt")
    assert "12 of 12 beyond tolerance" in diff(tmp_path / "a", tmp_path / "b", exit_code=1)


def test_figures_are_those_of_torch(pair):
    a, b = noise(70000).reshape(7, 100, 100), noise(70000, seed=1).reshape(7, 100, 100)
    folders = pair({"x": a}, {"x": b})
    findings, verdict = diff_json("--rtol", 0, "--atol", 0.5, *folders, exit_code=1)
    apart = (a.double() - b.double()).abs()
    worst = int(apart.argmax())
    (found,) = findings
    assert found["first"] and found["whole_values"] and found["count"] == 70000
    assert found["beyond"] == int((apart > 0.5).sum())
    assert found["worst"] == worst and found["max_abs"] == float(apart.max())
    assert found["worst_value_a"] == float(a.flatten()[worst])
    assert found["worst_value"] == float(b.flatten()[worst])
    assert found["max_rel"] == pytest.approx(float((apart / b.double().abs()).max()))
    cosine = torch.nn.functional.cosine_similarity(a.double().flatten(), b.double().flatten(), 0)
    assert found["cosine"] == pytest.approx(float(cosine), abs=1e-9)
    assert verdict["different"] == 1 and not verdict["equal"]


def test_a_nan_in_one_is_told(pair):
    b = noise()
    b[7] = float("nan")
    text = diff(*pair({"x": noise()}, {"x": b}), exit_code=1)
    assert "values at [7] NaN, A has" in text and "1 NaN of 64" in text


# Tolerances


def test_noise_beside_large_numbers_is_none(pair):
    """An element near 0 is off by what the sum that it came from was off by."""
    a = torch.tensor([1000.0, 1e-3])
    b = torch.tensor([1000.001, 1.5e-3])
    folders = pair({"x": a}, {"x": b})
    diff(*folders, exit_code=0)
    assert "values at [" in diff("--rtol", "1e-5", "--atol", "1e-6", *folders, exit_code=1)


def test_what_a_mask_has_put_in_does_not_hide_the_others(pair):
    a = torch.tensor([-1e9, 0.5, 0.25])
    b = torch.tensor([-1e9, 0.5, 0.26])
    assert "values at [2]" in diff(*pair({"x": a}, {"x": b}), exit_code=1)


def test_tolerances_are_given(pair):
    folders = pair({"x": torch.ones(4)}, {"x": torch.full((4,), 1.01)})
    diff(*folders, exit_code=1)
    diff("--rtol", "0.02", *folders, exit_code=0)
    diff("--rtol", "0", "--atol", "0.02", *folders, exit_code=0)
    diff("--rtol", "0", "--atol", "0.005", *folders, exit_code=1)


def test_across_precisions(pair):
    folders = pair({"x": noise()}, {"x": noise().bfloat16()})
    assert "dtype bfloat16, A has float32" in diff(*folders, exit_code=1)
    diff("--across-precisions", *folders, exit_code=0)
    other = pair({"x": noise()}, {"x": (noise() * 2).bfloat16()}, overwrite=True)
    assert "values at [" in diff("--across-precisions", *other, exit_code=1)


def test_norms_are_compared(tmp_path):
    x = noise(1000).reshape(10, 100)
    for folder, scale in (("a", 1), ("b", 1), ("c", 1.5)):
        TensorSaver(tmp_path / folder).save("x", x * scale, norm_only=True)
    diff(tmp_path / "a", tmp_path / "b", exit_code=0)
    assert "float32 [10]" in diff(tmp_path / "a", tmp_path / "c", exit_code=1)


TOLERANCES = {
    torch.float64: (1e-7, 1e-9), torch.float32: (1e-5, 1e-6), torch.complex64: (1e-5, 1e-6),
    torch.float16: (2e-3, 1e-5), torch.bfloat16: (1.6e-2, 1e-5), torch.int32: (0, 0),
    torch.int64: (0, 0),
}  # fmt: skip


def slow_model(a: torch.Tensor, b: torch.Tensor) -> tuple[int, float]:
    """How many elements are beyond tolerance, and how far the farthest is, by docs/reference/diff.md."""
    rtol, atol = TOLERANCES[a.dtype]
    numbers = [(x, y) for x, y in zip(a.tolist(), b.tolist()) if x != y and (x == x or y == y)]
    sizes = [abs(y) for _, y in numbers if math.isfinite(abs(y))] if rtol else []
    scale = max(sizes, default=0)
    apart = [abs(x - y) for x, y in numbers]
    apart = [d if math.isfinite(d) else math.inf for d in apart]
    beyond = sum(
        not (math.isfinite(d) and d <= atol + rtol * (abs(y) + scale))
        for d, (_, y) in zip(apart, numbers)
    )
    return beyond, max(apart, default=0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("dtype", TOLERANCES)
def test_what_is_beyond_tolerance_as_the_rules_say(pair, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    a = torch.randn(1300, generator=generator, dtype=torch.float64) * 20
    b = a * (1 + torch.randn(1300, generator=generator, dtype=torch.float64) * 10.0 ** (seed - 6))
    if dtype.is_floating_point:
        for tensor in (a, b):
            places = torch.randint(0, 1300, (12,), generator=generator)
            tensor[places] = torch.tensor([math.nan, math.inf, -math.inf, 0.0] * 3).double()
        a[7] = b[7] = math.nan
    a, b = a.to(dtype), b.to(dtype)
    beyond, max_abs = slow_model(a, b)
    findings, verdict = diff_json(*pair({"x": a}, {"x": b}), exit_code=1 if beyond else 0)
    assert verdict["equal"] == (beyond == 0)
    for found in findings:
        assert (found["beyond"], found["count"]) == (beyond, 1300)
        told = math.inf if found["max_abs"] == "Infinity" else found["max_abs"]
        assert told == pytest.approx(max_abs, rel=1e-12)


# What one has alone


def test_a_call_that_one_has_alone_is_the_first_divergence(tmp_path):
    for folder, count in (("a", 2), ("b", 3)):
        saver = TensorSaver(tmp_path / folder)
        for _ in range(count):
            saver.save("h", noise())
        saver.save("after", noise(seed=count))
    text = diff(tmp_path / "a", tmp_path / "b", exit_code=1)
    assert ": first divergence: h.call2: only in B: B has 3 of that name, A 2\n" in text
    text = diff(tmp_path / "b", tmp_path / "a", exit_code=1)
    assert ": first divergence: h.call2: only in A: B has 2 of that name, A 3\n" in text


def test_names_that_one_has_alone_are_listed(pair):
    folders = pair({"enc/x": noise(), "enc/old": noise()}, {"enc/new": noise(), "enc/x": noise()})
    text = diff(*folders, exit_code=1)
    assert text.startswith("different: 1 tensor is equal; 1 only in A; 1 only in B\n")
    lists = r"  only in A:\n    \S+:\d+  enc.old.call0\n  only in B:\n    \S+  enc.new.call0\n"
    assert re.search(lists, text)
    findings, verdict = diff_json(*folders, exit_code=1)
    assert [(f["name"], f["only"], f["first"]) for f in findings] == [
        ("new", "b", False),
        ("old", "a", False),
    ]
    assert (verdict["only_a"], verdict["only_b"], verdict["equal_tensors"]) == (1, 1, 1)


def test_nothing_in_common(pair):
    folders = pair({"ref/x": noise()}, {"new/x": noise()})
    text = diff(*folders, exit_code=1)
    assert text.startswith("different: no saved tensor has the same name in both (--map ")
    assert diff("--map", "ref=new", *folders, exit_code=0) == "equal: 1 tensor\n"


@pytest.mark.parametrize(
    ("old", "new", "map"),
    [
        ("step0/enc.attn/q", "step0/enc.attention/q", "attn=attention"),
        ("step0/enc.attn/q", "step0/encoder.attention/q", "enc.attn=encoder.attention"),
        ("step0/enc/q", "ref/enc/q", "step0=ref"),
        ("step0/enc/q", "step0/enc/query", "q=query"),
    ],
)
def test_maps(pair, old, new, map):
    folders = pair({old: noise()}, {new: noise()})
    diff(*folders, exit_code=1)
    assert diff("--map", map, *folders, exit_code=0) == "equal: 1 tensor\n"


def test_leaves_of_a_container_are_mapped_with_it(pair):
    a, b = {"cache": [{"k": noise()}]}, {"kv": [{"k": noise()}]}
    assert diff("--map", "cache=kv", *pair(a, b), exit_code=0) == "equal: 1 tensor\n"


def test_what_a_calls_otherwise_is_told(pair):
    folders = pair({"enc/q": noise()}, {"enc/query": noise() + 1})
    text = diff("--map", "q=query", *folders, exit_code=1)
    assert "first divergence: enc.query.call0:" in text and "  in A it is enc.q.call0\n" in text


def test_a_map_of_what_is_not_there_is_told(pair):
    folders = pair({"enc/q": noise()}, {"enc/q": noise()})
    done = viewer.run("diff", "--map", "enc=encoder", "--map", "atn=enc", *folders)
    assert done.stderr.splitlines() == [
        "remark: --map: no name matches encoder in B",
        "remark: --map: no name matches atn in A",
    ]


def test_ignore(pair):
    folders = pair({"a/seed": noise(), "a/x": noise()}, {"a/seed": noise() + 1, "a/x": noise()})
    diff(*folders, exit_code=1)
    for glob in ("seed", "a.s*"):
        text = diff("--ignore", glob, *folders, exit_code=0)
        assert text == "equal: 1 tensor; 1 ignored\n"


def test_all_is_ignored(pair):
    folders = pair({"x": noise()}, {"x": noise()})
    assert diff("--ignore", "*", *folders, exit_code=1) == "nothing to compare; 1 ignored\n"


def test_lists_are_cut(pair):
    a = {f"x{i}": noise() for i in range(30)}
    b = {f"x{i}": noise() + 1 for i in range(30)}
    folders = pair(a, b)
    text = diff(*folders, exit_code=1)
    assert text.count("values at") == 21 and "    and 10 more tensors (--all)\n" in text
    assert diff("--all", *folders, exit_code=1).count("values at") == 31


# Files and formats


def test_two_files_are_a_pair_whatever_they_are_called(tmp_path):
    torch.save(noise(), tmp_path / "ref.pt")
    torch.save(noise(), tmp_path / "out.pt")
    assert diff(tmp_path / "ref.pt", tmp_path / "out.pt", exit_code=0) == "equal: 1 tensor\n"
    torch.save(noise() + 1, tmp_path / "out.pt")
    diff(tmp_path / "ref.pt", tmp_path / "out.pt", exit_code=1)


@pytest.mark.parametrize("formats", [("pt", "safetensors"), ("safetensors", "pt"),
                                     ("safetensors", "safetensors"), ("pt", "mtrace"),
                                     ("mtrace", "mtrace")])  # fmt: skip
def test_formats_are_compared_with_each_other(tmp_path, formats):
    tensors = {"step0/enc/q": noise(), "step0/enc/k": torch.arange(5)}
    a = save(tmp_path / "a", tensors, format=formats[0])
    b = save(tmp_path / "b", tensors, format=formats[1])
    assert diff(a, b, exit_code=0) == "equal: 2 tensors\n"
    c = save(tmp_path / "c", {**tensors, "step0/enc/k": torch.arange(5) + 1}, format=formats[1])
    assert "step0.enc.k.call0: values at [0] 1, A has 0" in diff(a, c, exit_code=1)


def test_a_damaged_file_is_told_and_the_rest_compared(pair):
    tensors = {"x": noise(), "y": noise()}
    folders = pair(tensors, tensors)
    (path,) = folders[1].glob("*y.call0.pt")
    path.write_bytes(path.read_bytes()[:100])
    done = viewer.run("diff", *folders)
    assert done.returncode == 3
    assert path.name in done.stderr and "1 tensor is equal" in done.stdout


def test_a_folder_that_is_not_there(pair, tmp_path):
    folders = pair({"x": noise()}, {})
    done = viewer.run("diff", folders[0], tmp_path / "none")
    assert done.returncode == 3 and done.stdout == "" and "none" in done.stderr


def test_an_empty_folder(pair):
    text = diff(*pair({"x": noise()}, {}), exit_code=1)
    assert text.startswith("different: 0 tensors are equal; 1 only in A\n")


def test_two_empty_folders(pair):
    done = viewer.run("diff", *pair({}, {}))
    assert done.returncode == 3 and "has no traces" in done.stderr and ".pt" in done.stderr


@pytest.mark.parametrize("words", [["-o", "diff.svg"], ["--inherited"], ["--ranks"]])
def test_options_for_traces_alone_are_refused(pair, words):
    folders = pair({"x": noise()}, {"x": noise()})
    done = viewer.run("diff", *words, *folders)
    assert done.returncode == 2 and "saved tensors" in done.stderr and done.stdout == ""


def test_json_of_a_difference(pair):
    a = {"step0/enc/q": noise(), "step0/enc/k": noise()}
    findings, verdict = diff_json(*pair(a, {**a, "step0/enc/k": noise() + 1}), exit_code=1)
    (found,) = findings
    wanted = {"class": "own", "cause": "values", "first": True, "prefix": "step0", "module": "enc",
              "name": "k", "call": 0, "file": __file__, "file_a": __file__, "function": "save",
              "saved": "step0.enc.k.call0.pt", "saved_a": "step0.enc.k.call0.pt",
              "count": 64}  # fmt: skip
    assert wanted.items() <= found.items()
    assert found["line"] == found["line_a"] > 0 and found["order"] > found["order_a"]
    assert found["value"].startswith("float32 [64]") and found["text"].startswith(__file__)
    assert verdict == {
        "record": "verdict", "equal": False, "tensors_a": 2, "tensors": 2, "equal_tensors": 1,
        "within_tolerance": 0, "different": 1, "only_a": 0, "only_b": 0, "ignored": 0, "unread": 0,
        "damaged_files_a": 0, "damaged_files": 0, "in_order": True,
    }  # fmt: skip


def test_control_characters_in_names_do_not_reach_the_terminal(pair):
    name = "x\x1b[31m"
    text = diff(*pair({name: noise()}, {name: noise() + 1}), exit_code=1)
    assert "\x1b" not in text and "x?[31m.call0" in text


def test_colours_where_they_are_asked_for(pair):
    folders = pair({"x": noise()}, {"x": noise() + 1})
    painted = diff("--color", "always", *folders, exit_code=1)
    assert "\x1b[" in painted
    assert re.sub(r"\x1b\[[0-9;]*m", "", painted) == diff(*folders, exit_code=1)
