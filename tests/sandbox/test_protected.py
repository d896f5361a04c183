from pathlib import Path

from sandbox.protected import MAX_MOUNTS, ProtectedName, protected_names


def test_a_repository_is_pinned_and_what_git_runs_is_read_only(workspace: Path) -> None:
    (workspace / ".git/hooks").mkdir(parents=True)
    (workspace / ".git/config").write_text("x")
    assert protected_names(workspace) == [
        ProtectedName(".git", writable=True),
        ProtectedName(".git/hooks"),
        ProtectedName(".git/config"),
    ]


def test_what_shells_git_and_ssh_read_at_their_start_is_read_only(workspace: Path) -> None:
    for name in (".bashrc", ".gitconfig", "notes.txt", ".env"):
        (workspace / name).write_text("x")
    (workspace / ".ssh").mkdir()
    (workspace / ".handrail").mkdir()
    names = [one.name for one in protected_names(workspace) if not one.writable]
    assert names == [".bashrc", ".gitconfig", ".handrail", ".ssh"]


def test_the_file_of_a_work_tree_is_read_only_itself(workspace: Path) -> None:
    (workspace / ".git").write_text("gitdir: /elsewhere\n")
    assert protected_names(workspace) == [ProtectedName(".git")]


def test_links_are_not_mounted(workspace: Path, tmp_path: Path) -> None:
    (workspace / ".git").symlink_to(tmp_path)
    (tmp_path / "config").write_text("x")
    assert protected_names(workspace) == []
    (workspace / ".git").unlink()
    (workspace / ".git").mkdir()
    (workspace / ".git/hooks").symlink_to(tmp_path)
    assert protected_names(workspace) == [ProtectedName(".git", writable=True)]


def test_the_list_has_an_end_and_a_missing_workspace_has_none(workspace: Path) -> None:
    for number in range(MAX_MOUNTS + 5):
        (workspace / f".ssh{'.' * number}").mkdir()
    assert len(protected_names(workspace)) <= MAX_MOUNTS
    assert protected_names(workspace / "missing") == []
