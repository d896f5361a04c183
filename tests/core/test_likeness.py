import pytest

from core.likeness import call_key, reply_key, result_key, shown_call
from core.messages import ToolCall


def call(name: str = "shell", **arguments: object) -> ToolCall:
    return ToolCall(id="c", name=name, arguments=arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ls -la", "  ls   -la "),
        ("cat 'a b.txt'", 'cat "a b.txt"'),
        ("cat ./src/a.py", "cat src/a.py"),
        ("././a.py", "a.py"),
        ("'a.py'", "a.py"),
        ("cat 'a.py' -n", "cat a.py -n"),
        ("for x in y:\n    z", "for x in y:   \n    z\n"),
    ],
)
def test_spelling_alone_makes_no_other_call(one: str, other: str) -> None:
    assert call_key(call(command=one)) == call_key(call(command=other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ls -la", "ls -l"),
        ("cat 'a b'", "cat a b"),
        ("cat ../a.py", "cat a.py"),
        ("cat a/./b", "cat a/b"),
        ("if x:\n  y\nz", "if x:\n  y\n  z"),
    ],
)
def test_what_does_something_else_is_another_call(one: str, other: str) -> None:
    assert call_key(call(command=one)) != call_key(call(command=other))


def test_the_order_of_keys_and_the_name_of_the_tool() -> None:
    assert call_key(call(a=" x ", b=1)) == call_key(call(b=1, a="x"))
    assert call_key(call("shell", a="x")) != call_key(call("python", a="x"))
    assert call_key(call(a=[" x "])) == call_key(call(a=["x"]))


def test_text_of_a_file_counts_to_the_last_blank() -> None:
    one, other = (call("edit_file", old_str=text) for text in ("  x = 1", "    x = 1"))
    assert call_key(one) != call_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 passed in 0.12s", "3 passed in 14.50s"),
        ("done at 2026-11-30T10:00:00.123Z", "done at 2026-12-01 11:05:59+01:00"),
        ("Mon 10:15:59 up", "Mon 10:16:02 up"),
        ("real 0m1.234s", "real 1m7.001s"),
        ("started, pid 4711", "started, pid 99"),
        ("[1] 4711", "[1] 4799"),
        ("<A object at 0x7f00aa11bb22>", "<A object at 0x7f00cc11bb22>"),
        ("now 1764540000.25", "now 1764549999.75"),
        ("a  b\n", "a b"),
    ],
)
def test_results_that_differ_by_the_clock_are_the_same(one: str, other: str) -> None:
    assert result_key(one) == result_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 passed in 0.12s", "4 passed in 0.12s"),
        ("12 errors", "11 errors"),
        ("port 8080", "port 8081"),
        ("id 0x7f", "id 0x80"),
    ],
)
def test_results_that_differ_in_what_they_say_are_not(one: str, other: str) -> None:
    assert result_key(one) != result_key(other)


def test_replies_differ_by_their_words_alone() -> None:
    assert reply_key("I will  look.\n") == reply_key("i will look.")
    assert reply_key("I will look.") != reply_key("I have looked.")


def test_a_call_is_shown_on_one_short_line() -> None:
    assert shown_call(call(command="a\nb", n=2)) == "shell a b 2"
    assert len(shown_call(call(command="x" * 500))) == 80


def test_a_very_long_argument_is_compared_as_it_is_for_a_step_must_not_wait() -> None:
    long = "a 'b' " * 20_000
    assert call_key(call(text=long)) == call_key(call(text=long))
    assert call_key(call(text=long)) != call_key(call(text=long + " "))
