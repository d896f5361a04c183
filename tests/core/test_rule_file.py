from datetime import date
from pathlib import Path

import pytest

from core.errors import ConfigError
from core.rule_file import load_rules, parse_rules

GOOD = """version = 1
[[rule]]
id = "pytest"
tool = "shell"
argv = ["pytest", "{-q,-x}", "path:tests/**"]
where = "sandbox"
decision = "allow"
modes = ["ask", "auto"]
taint = "clean"
expires = 2027-01-31
match = ["pytest -q tests/test_a.py"]
not_match = ["pytest -q tests/a; rm x", "pytest -q --rootdir=/", "pytest"]

[[rule]]
id = "docs"
tool = "browser"
origin = "https://docs.example.org"
actions = ["navigate", "click"]
decision = "allow"

[[rule]]
id = "no-prod"
text = "prod-db"
decision = "deny"
reason = "Use the staging host."
"""


def write(folder: Path, text: str, mode: int = 0o600) -> Path:
    path = folder / "policy.toml"
    path.write_text(text)
    path.chmod(mode)
    return path


def test_a_good_file_gives_its_rules_with_their_lines(tmp_path):
    path = write(tmp_path, GOOD)
    found = load_rules(path, date(2026, 1, 1))
    assert found.problem is None
    assert [rule.id for rule in found.rules] == ["pytest", "docs", "no-prod"]
    assert [rule.source for rule in found.rules] == [f"{path}:2", f"{path}:14", f"{path}:21"]
    assert found.rules[0].modes == ("ask", "auto")


def test_no_file_is_no_rules(tmp_path):
    assert load_rules(tmp_path / "policy.toml").rules == ()


def test_a_rule_that_expired_is_left_out():
    assert [rule.id for rule in parse_rules(GOOD, "p", date(2027, 2, 1))] == ["docs", "no-prod"]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ('argv = ["pytest"', 'argw = ["pytest"', "line 5: rule.argw"),
        ('decision = "allow"', 'decision = "yes"', "line 7: rule.decision"),
        ("version = 1", "version = 2", "line 1: version"),
        ("version = 1", "verson = 1", "line 1"),
        ('id = "docs"', "id = 5", "line 15: rule.id"),
        ('reason = "Use', 'reasons = "Use', "line 25: rule.reasons"),
        ("[[rule]]", "[[rule", "line 2"),
        ("https://docs.example.org", "https://a@docs.example.org", "user name"),
        ("https://docs.example.org", "https://DOCS.example.org/x", "origin must be written"),
        ('tool = "browser"\n', "", "an allow must name its tool"),
        ('match = ["pytest -q tests/test_a.py"]', 'match = ["pytest -v tests/a"]', "does not match its example"),
        ('not_match = ["', 'not_match = ["pytest -x tests/b", "', "which it must not"),
        ('"path:tests/**"]', '"...", "x"]', "last word"),
    ],
)  # fmt: skip
def test_a_file_with_a_mistake_is_refused_with_line_and_key(tmp_path, old, new, where):
    found = load_rules(write(tmp_path, GOOD.replace(old, new, 1)))
    assert found.rules == ()
    assert found.problem is not None
    assert where in found.problem.message


def test_the_allows_of_a_file_others_can_write_are_ignored(tmp_path):
    for mode in (0o660, 0o602):
        found = load_rules(write(tmp_path, GOOD, mode), date(2026, 1, 1))
        assert [rule.id for rule in found.rules] == ["no-prod"]
        assert "policy.toml" in found.warning


def test_a_link_a_folder_or_a_pipe_is_no_rule_file(tmp_path):
    real = write(tmp_path, GOOD)
    link = tmp_path / "link.toml"
    link.symlink_to(real)
    (tmp_path / "folder.toml").mkdir()
    for path in (link, tmp_path / "folder.toml"):
        assert load_rules(path).problem is not None
    real.write_bytes(b"\xff\xfe")
    assert load_rules(real).problem is not None


def test_parsing_raises_one_clear_error():
    with pytest.raises(ConfigError, match="p, line 1"):
        parse_rules("x", "p")


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 30_000, "a = " + "9" * 30_000, "a = " + "{a=" * 9_000]
)
def test_a_file_no_reader_can_take_is_one_clear_error(tmp_path, text):
    path = tmp_path / "policy.toml"
    path.write_text(text)
    path.chmod(0o600)
    problem = load_rules(path).problem
    assert problem is not None
    assert str(path) in problem.line()
