"""Ports of programs that share no names: `monitorch diff` names the line or the weight, or says that it is not certain."""

import collections

import pytest

from tests.verdicts.ports import runs

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("compiler_module")]

# What is recorded in each run of the tests; --slow records all.
QUICK = {
    "decoder": ("eps", "gate_and_up_swapped", "scale_missing", "norm_weight_missing"),
    "vision": ("key_and_value_swapped", "layers_in_another_order"),
}

# So many of a pair's bugs are named exactly, at least.
EXACT = {
    "convnet": 16,
    "crossing": 12,
    "decoder": 17,
    "dual": 7,
    "encoder": 16,
    "experts": 11,
    "lstm": 11,
    "separator": 9,
    "squeeze": 13,
    "statespace": 11,
    "unet": 16,
    "vision": 16,
}


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ports")
    return {
        name: runs.record_pair(folder, name, ("reference", "port", *bugs))
        for name, bugs in QUICK.items()
    }


@pytest.mark.parametrize("name", QUICK)
def test_a_right_port_is_equal(quick, name):
    done = runs.diff(quick[name], "port")
    assert done.returncode == 0 and done.stdout.startswith("equal by values: "), done.stdout


@pytest.mark.parametrize("name,key", [(name, key) for name in QUICK for key in QUICK[name]])
def test_a_wrong_port_is_named(quick, name, key):
    pair = runs.load(name)
    (bug,) = [bug for bug in pair.BUGS if bug.name == key]
    done = runs.diff(quick[name], key)
    assert done.returncode == 1
    assert runs.judge(pair, bug, done.stdout).kind == "exact", done.stdout


def test_programs_without_a_common_name_are_matched_by_values_unasked(quick):
    done = runs.viewer.run("diff", quick["decoder"]["reference"], quick["decoder"]["eps"])
    assert "first divergence: " in done.stdout.splitlines()[0]
    assert len(done.stdout.splitlines()) < 40


def test_the_map_is_read_again(quick, tmp_path):
    pair = [quick["decoder"][key] for key in ("reference", "port")]
    table = runs.viewer.run("diff", "--print-map", *pair)
    assert table.returncode == 0
    assert (
        "  layers.0.self_attn.q_proj.weight          = layers.0.attention.wq.weight, permuted\n"
        in table.stdout
    )
    file = tmp_path / "map.json"
    file.write_text(runs.viewer.run("diff", "--print-map", "--json", *pair).stdout)
    done = runs.viewer.run("diff", "--map-file", file, *pair)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    file.write_text('{"record":"map","kind":"weight","name":"norm.weight","name_a":"no.weight"}\n')
    done = runs.viewer.run("diff", "--map-file", file, *pair)
    assert "norm.weight = no.weight: no such value was recorded" in done.stderr
    file.write_text("{\n")
    done = runs.viewer.run("diff", "--map-file", file, *pair)
    assert done.returncode == 3 and "map.json:1: expected a JSON object" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", EXACT)
def test_all_bugs_of_a_pair(tmp_path, name):
    pair = runs.load(name)
    traces = runs.record_pair(tmp_path, name)
    assert runs.diff(traces, "port").stdout.startswith("equal by values")
    verdicts = {
        bug.name: runs.judge(pair, bug, runs.diff(traces, bug.name).stdout) for bug in pair.BUGS
    }
    kinds = collections.Counter(verdict.kind for verdict in verdicts.values())
    assert kinds["wrong"] == 0, verdicts
    assert kinds["exact"] >= EXACT[name], verdicts
