from core.toml_lines import key_lines, line_of

TEXT = '''# comment = 1
a = 1
[group]
"quoted key" = 2
text = """
fake = 3
[fake]
"""
b.c = 4
[[array]]
d = 5
[[array]]
d = 6
'''


def test_keys_and_tables_stand_on_their_lines() -> None:
    assert key_lines(TEXT) == {
        ("a",): 2,
        ("group",): 3,
        ("group", "quoted key"): 4,
        ("group", "text"): 5,
        ("group", "b", "c"): 9,
        ("array",): 10,
        ("array", "d"): 11,
        ("array", "0"): 10,
        ("array", "0", "d"): 11,
        ("array", "1"): 12,
        ("array", "1", "d"): 13,
    }


def test_an_unlisted_key_stands_where_its_table_stands() -> None:
    lines = key_lines("[a]\nb = {c = 1}\n")
    assert line_of(lines, ("a", "b", "c")) == 2
    assert line_of(lines, ("a", "x")) == 1
    assert line_of(lines, ("y",)) == 0
