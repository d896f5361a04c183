import random
from pathlib import Path

from core.reach import Reach
from core.shell.words import take_apart
from core.shell_reader import read_command
from tests.support.shell_fuzz import Bash, differences, random_text

SEED = 20_261_130
SAMPLE = 700
"""Plain texts that are given to bash: enough to find each mistake of a kind, and about ten seconds."""


def test_bash_runs_nothing_else_than_what_was_read_out_of_plain_text(tmp_path: Path):
    source = random.Random(SEED)
    workspace = tmp_path / "ws"
    workspace.mkdir()
    bash = Bash(workspace)
    reach = Reach(workspace=workspace)
    before = bash.files()
    compared = 0
    wrong: list[str] = []
    while compared < SAMPLE and not wrong:
        text = random_text(source)
        plain = take_apart(text)
        if plain.opaque or not read_command(text, reach).only_reads:
            continue
        compared += 1
        argvs = [command.argv for command in plain.commands]
        wrong.extend(f"{text!r}: {difference}" for difference in differences(bash.run(text), argvs))
        if bash.files() != before:
            wrong.append(f"{text!r} made {set(bash.files()) - set(before)}")
    assert wrong == []


def test_the_oracle_sees_what_a_wrong_reading_would_hide(tmp_path: Path):
    workspace = tmp_path / "ws"
    workspace.mkdir()
    bash = Bash(workspace)
    for text in ("ls $(rm z)", "ls;rm z", "ls\nrm z", "A=1 rm z", "ls | rm z", "eval rm z"):
        assert list(differences(bash.run(text), [("ls",), ("eval", "rm", "z")])), text
    assert not list(
        differences(bash.run("ls -l 'a b' && echo x"), [("ls", "-l", "a b"), ("echo", "x")])
    )


def test_texts_that_are_not_plain_are_read_without_a_fault():
    source = random.Random(SEED + 1)
    reach = Reach(workspace=Path("/nonexistent"))
    for _ in range(3_000):
        read_command(random_text(source), reach)
