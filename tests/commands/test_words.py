"""Every text that the C programs print: no verb that does nothing, help that fits a terminal."""

import re

import pytest

from tests.support import english, paths, viewer

SOURCES = sorted(
    path
    for folder in ("instrument", "runtime")
    for path in (paths.ROOT / folder).rglob("*")
    if path.suffix in (".c", ".h", ".def")
)
# Literals that are no English of ours: names, and words that programs read.
NAMES = {
    "take": "numpy.take",
    "came in": "`how` of `monitorch why --json`",
    " took ": "of a branch: `B took the else`",
    "B took ": "of a branch: `B took the else`",
    "taken": "of a branch",
}
COMMANDS = "run why diff show graph calls check sql export instrument completion".split()
OPTION = re.compile(r"  (?:-\w, |    )?--(\w[\w-]*)[^ ]*(?: \S+)*?(?:  +|$)(.*)")


def has_words(text):
    """Whether a literal is a text or a part of one: it has a blank, or is one of the verbs."""
    return " " in text or english.VERB.fullmatch(text.strip()) is not None


def test_no_text_has_a_verb_that_does_nothing():
    found = [
        f"{path.relative_to(paths.ROOT)}:{line}: {', '.join(verbs)}: {text[:120]!r}"
        for path in SOURCES
        for line, text in english.c_texts(path)
        if has_words(text) and text not in NAMES and (verbs := english.find_verbs(text))
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(
    ("text", "verbs"),
    [
        ('error_set(error, KIND, "%s takes no -o", word);', ["takes"]),
        ('say("what is " /* in between */\n    "told of it");', ["told"]),
        ('/* What is told. */ say("a call that went wrong: " PRIu64 ", gone");', ["went", "gone"]),
        ('say("this branch was never taken");', []),
        ('#include "runtime/take.h"\nsay("f() takes from 2 to 3 positional arguments");', []),
    ],
)
def test_the_verbs_are_found(tmp_path, text, verbs):
    source = tmp_path / "a.c"
    source.write_text(text)
    assert [
        verb for _, part in english.c_texts(source) for verb in english.find_verbs(part)
    ] == verbs


def help_texts(text):
    """The texts of the options, each in one line."""
    texts, is_option = [], False
    for line in text.splitlines():
        if found := OPTION.fullmatch(line):
            texts.append(found[2].strip())
            is_option = True
        elif is_option and re.match(r"   {6,}\S", line):
            texts[-1] = f"{texts[-1]} {line.strip()}".strip()
        else:
            is_option = False
    return texts


@pytest.mark.parametrize("command", COMMANDS)
def test_help_begins_with_verbs_and_nouns(command):
    """No option, heading or paragraph of a help begins with a question word or a preposition."""
    text = viewer.run("help", command).stdout
    assert [line for line in text.splitlines() if len(line) > 80] == []
    texts = help_texts(text)
    assert len(texts) >= 2 and all(texts), texts
    headings = re.findall(r"^(\w.*):$", text, re.M)
    paragraphs = [part for part in text.split("\n\n")[1:] if re.match(r"[A-Z]", part)]
    sentences = [
        sentence
        for part in paragraphs
        for sentence in re.split(r"(?<=[a-z)][.:])\s+(?=[A-Z])", part)
    ]
    for openers, parts in (english.OPENERS, texts + headings), (english.QUESTIONS, sentences):
        for part in parts:
            assert re.match(r"[\w'-]*", part)[0].lower() not in openers, part
    assert "?" not in re.sub(r"--\S+|`[^`]*`|'[^']*'", "", text.partition("Examples:")[0]), text
