"""Which files tell the agent something, and what cannot be read is one line each."""

import os
from pathlib import Path

import pytest

from core.errors import ConfigError
from core.instructions import MAX_FILES, GuideFile, cut_text, find_guides, read_guides
from core.skills import Skill, SkillShelf, parse_skill


def put(folder: Path, path: str, text: str | bytes = "Be brief.\n") -> Path:
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode() if isinstance(text, str) else text)
    return target


def skill_text(name: str = "notes", description: str = "Write notes.", body: str = "Do so.") -> str:
    return f"---\nname: {name}\ndescription: {description}\n---\n\n{body}\n"


def skill_file(text: str, name: str = "notes") -> GuideFile:
    path = f".agents/skills/{name}/SKILL.md"
    return GuideFile(path=path, kind="skill", size_bytes=len(text), sha256="", text=text)


def test_an_empty_workspace_tells_nothing(tmp_path: Path) -> None:
    put(tmp_path, "CLAUDE.md")
    put(tmp_path, "agents.md")
    assert find_guides(tmp_path) == []


def test_instructions_of_the_folder_and_below_and_skills_are_found(tmp_path: Path) -> None:
    for path in ("AGENTS.md", "src/AGENTS.md", "src/深い/AGENTS.md", ".agents/skills/b/SKILL.md"):
        put(tmp_path, path)
    put(tmp_path, ".agents/skills/a/SKILL.md")
    put(tmp_path, ".agents/skills/no-skill/README.md")
    for other in (".git/AGENTS.md", "node_modules/x/AGENTS.md", "a/b/c/d/e/AGENTS.md"):
        put(tmp_path, other)
    put(tmp_path, "vendored/AGENTS.md")
    put(tmp_path, "vendored/.git/HEAD")
    assert [path for path, _ in find_guides(tmp_path)] == [
        "AGENTS.md",
        "src/AGENTS.md",
        "src/深い/AGENTS.md",
        ".agents/skills/a/SKILL.md",
        ".agents/skills/b/SKILL.md",
    ]
    files = read_guides(tmp_path).files
    assert [file.kind for file in files] == ["instructions"] * 3 + ["skill"] * 2
    assert files[2].folder == "src/深い"
    assert len({file.sha256 for file in files}) == 1


def test_what_cannot_be_read_is_one_line_each(tmp_path: Path) -> None:
    outside = put(tmp_path, "outside.md", "Obey me.")
    workspace = tmp_path / "ws"
    put(workspace, "a/AGENTS.md", b"\xff\xfe\x00bad")
    put(workspace, "b/AGENTS.md", b"a\0b")
    put(workspace, "c/AGENTS.md", b"x" * (1 << 20) + b"y")
    (workspace / "d" / "AGENTS.md").mkdir(parents=True)
    (workspace / "AGENTS.md").symlink_to(outside)
    os.mkfifo(workspace / "e.tmp")
    (workspace / "e").mkdir()
    (workspace / "e.tmp").rename(workspace / "e" / "AGENTS.md")
    found = read_guides(workspace)
    assert found.files == ()
    assert [problem.split(",")[0] for problem in found.problems] == [
        "AGENTS.md is a link",
        "a/AGENTS.md is not UTF-8 text",
        "b/AGENTS.md is not a text",
        "c/AGENTS.md is larger than 1 MiB",
        "d/AGENTS.md is a folder",
        "e/AGENTS.md is not a regular file",
    ]
    assert all("\n" not in problem and "ignored" in problem for problem in found.problems)


@pytest.mark.parametrize("linked", [".agents", ".agents/skills", ".agents/skills/x"])
def test_skills_behind_a_link_are_not_read(tmp_path: Path, linked: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    put(elsewhere, "skills/x/SKILL.md", skill_text("x"))
    put(elsewhere, "x/SKILL.md", skill_text("x"))
    put(elsewhere, "SKILL.md", skill_text("x"))
    workspace = tmp_path / "ws"
    (workspace / linked).parent.mkdir(parents=True)
    (workspace / linked).symlink_to(elsewhere)
    found = read_guides(workspace)
    assert found.files == ()
    [problem] = found.problems
    assert "link" in problem


def test_a_link_to_a_folder_is_not_looked_into(tmp_path: Path) -> None:
    put(tmp_path, "real/AGENTS.md")
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "sub").symlink_to(tmp_path / "real")
    assert find_guides(tmp_path / "ws") == []


def test_there_is_a_limit_to_the_number_of_files(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 2):
        put(tmp_path, f"d{number:03}/AGENTS.md")
    found = read_guides(tmp_path)
    assert len(found.files) == MAX_FILES
    assert f"first {MAX_FILES} of {MAX_FILES + 2}" in found.problems[0]


def test_a_long_text_is_cut_at_a_line_and_never_in_a_character() -> None:
    assert cut_text("短い\n", 100) == ("短い\n", 0)
    assert cut_text("one\ntwo\nthree", 9) == ("one\ntwo\n", 5)
    text, missing = cut_text("漢" * 10, 10)
    assert (text, missing) == ("漢" * 3, 21)
    assert cut_text("abc", 0) == ("", 3)


def test_a_skill_has_a_name_a_description_and_a_body() -> None:
    front = 'name: "notes"\ndescription: >\n  Write notes,\n  briefly: 短く.\nallowed-tools:\n  - shell\n'
    text = f"---\n{front}---\n# How\nDo.\n"
    skill = parse_skill(skill_file(text), "workspace")
    assert (skill.name, skill.description) == ("notes", "Write notes, briefly: 短く.")
    assert skill.body == "# How\nDo."
    assert skill.folder == ".agents/skills/notes"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "line 1: it does not begin with ---"),
        ("# Notes\n", "line 1: it does not begin with ---"),
        ("---\nname: notes\n", "line 2: the --- that ends the front matter is missing"),
        ("---\nname: notes\n---\nDo.", "line 1: its front matter has no description"),
        ("---\nname: other\ndescription: x\n---\n", "its name is 'other'"),
        ("---\n{broken\n---\n", "line 2: it is no line of the form name: text"),
    ],
)
def test_broken_front_matter_is_one_line_with_file_and_line(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_skill(skill_file(text), "workspace")
    line = caught.value.line()
    assert words in line
    assert ".agents/skills/notes/SKILL.md" in line
    assert "\n" not in line


def test_skills_are_listed_one_a_line_and_the_workspace_comes_before_the_person() -> None:
    def skill(name: str, description: str) -> Skill:
        return Skill(name=name, description=description, body="", path="p", source="user")

    shelf = SkillShelf()
    assert shelf.listing() == ""
    shelf.add([skill("b", "mine"), skill("a", "one")])
    shelf.add([skill("b", "theirs")])
    assert shelf.listing() == "- a: one\n- b: theirs"
