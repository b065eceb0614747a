"""`monitorch check --format` against the schemas of SARIF and JUnit.

They are in build/formats, where `make test-all` puts them; the tests skip otherwise.
"""

import json
import sqlite3
import sys

import jsonschema
import pytest

from tests.support import paths, viewer
from tests.trace import scenarios
from tests.trace.made import Trace, scalar, tensor

FOLDER = paths.BUILD / "formats"
pytestmark = pytest.mark.skipif(
    not (FOLDER / ".installed").exists(), reason="make test-all brings the schemas (build/formats)"
)
# As check's `$schema` names it, and in the standard.
SARIF_ID = (
    "https://raw.githubusercontent.com/oasis-tcs/sarif-spec/master/Schemata/sarif-schema-2.1.0.json"
)


@pytest.fixture(scope="module")
def sarif():
    """SARIF's schema, out of the answers of a server that the package schemastore has kept."""
    kept = FOLDER / "schemastore" / "cache.sqlite"
    with sqlite3.connect(f"file:{kept}?mode=ro", uri=True) as connection:
        answers = [value for (value,) in connection.execute("select value from responses")]
    for answer in answers:
        if SARIF_ID.encode() in answer:
            text = answer[answer.index(b"{\r\n") :].decode("utf-8", "replace")
            schema, _ = json.JSONDecoder().raw_decode(text)
            if schema.get("$id") == SARIF_ID:
                kind = jsonschema.Draft7Validator
                kind.check_schema(schema)
                return kind(schema, format_checker=kind.FORMAT_CHECKER)
    raise AssertionError("schemastore has no schema of SARIF 2.1.0")


@pytest.fixture(scope="module")
def junit():
    """Jenkins' schema. Ant's wants a host and a time of each suite, which a trace has none of."""
    sys.path.insert(0, str(FOLDER))
    try:
        import xmlschema
    finally:
        sys.path.remove(str(FOLDER))
    return xmlschema.XMLSchema(FOLDER / "package" / "test" / "resources" / "jenkins-junit.xsd")


def empty():
    trace = Trace()
    trace.module("m.py", [("<module>", 1)], [("assign", 1, 0, "x")])
    return trace


def fine():
    trace = empty()
    trace.event(0, trace.call(0), scalar(1.0))
    return trace


def awkward():
    """Paths, names and texts with characters that XML, JSON and an address must write in another way."""
    bad = " <&>\"'%20#?\x01\x1b[31m\u202e模型\U0001f600]]>"
    trace = Trace()
    path = f"dir{bad}/model.py"
    trace.module(
        path, [("<module>", 1), (f"f{bad}", 1)], [("assign", 2, 1, f"y{bad}")], source="a\nb\n"
    )
    call = trace.call(1)
    for _ in range(3):
        trace.event(0, call, tensor((4,), min=0, max=1, mean=0.5, std=0.5, nan=2))
    return trace


TRACES = [empty, fine, awkward, scenarios.nested_calls, scenarios.values, scenarios.hostile]
WORDS = [
    [],
    ["--no-nan", "--no-inf", "--zeros"],
    ["--max-abs=1", "--dtype=float32", "--shape=*=1,_"],
    ["--name=nothing", "--no-nan"],
]


@pytest.fixture(scope="module")
def traces(folder):
    return [
        make().write(folder / f"{make.__name__} & <{i}>.mtrace") for i, make in enumerate(TRACES)
    ]


def documents(format, traces):
    """What check prints, of each trace alone and of all."""
    codes = set()
    for words in WORDS:
        for chosen in (*([path] for path in traces), traces):
            done = viewer.run("check", "--format", format, *words, *chosen)
            codes.add(done.returncode)
            yield done.stdout
    assert codes == {0, 1}


def test_sarif(sarif, traces):
    count = 0
    for text in documents("sarif", traces):
        document = json.loads(text)
        errors = [f"{e.json_path}: {e.message}" for e in sarif.iter_errors(document)]
        assert errors == [], text
        count += len(document["runs"][0]["results"])
    assert count > 10


def test_the_schema_of_sarif_refuses(sarif, traces):
    document = viewer.run("check", "--format", "sarif", traces[2]).stdout
    for break_it in (
        lambda d: d.pop("version"),
        lambda d: d["runs"][0]["results"][0].pop("message"),
        lambda d: d["runs"][0]["results"][0].update(more=1),
        lambda d: d["runs"][0]["results"][0].update(level="bad"),
    ):
        broken = json.loads(document)
        break_it(broken)
        assert not sarif.is_valid(broken)


def test_junit(junit, traces):
    count = 0
    for text in documents("junit", traces):
        junit.validate(text)
        count += text.count("<failure")
    assert count > 10


def test_the_schema_of_junit_refuses(junit, traces):
    text = viewer.run("check", "--format", "junit", traces[2]).stdout
    assert junit.is_valid(text)
    for old, new in (
        ("<failure", "<fault"),
        (" classname=", " class="),
        ("<testsuites", "<suites"),
    ):
        broken = text.replace(old, new).replace(old.replace("<", "</"), new.replace("<", "</"))
        assert broken != text and not junit.is_valid(broken), old
