"""The preferences file: saving, damaged files and concurrent writers."""

import json

import pytest

from aucstudio.gui.state.preferences import (
    FigureRules,
    Preferences,
    PreferencesFile,
    TableLook,
    WindowPlace,
    preferences,
)


@pytest.fixture
def path(own_home):
    return own_home / "preferences.json"


def kept(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_preferences_are_restored_at_the_next_start(qapp, path):
    first = PreferencesFile(path)
    first.put(theme="dark", text_size=150, choices={"face_combo": "pr"}, layers={"costs": True})
    first.put_in("windows", "main_window", WindowPlace((10, 20, 1300, 800), maximised=True))
    first.put_in("tables", "runs_table", TableLook(("name", "auc"), {"name": 120}, "auc", True))
    first.put_in("folders", "figure", "/data/figures")
    first.flush()
    assert PreferencesFile(path).now == first.now
    assert first.now.windows["main_window"].rect == (10, 20, 1300, 800)
    assert first.now.tables["runs_table"].shown == ("name", "auc")


def test_unchanged_preferences_are_not_written(qapp, path):
    own = PreferencesFile(path)
    own.put(theme="system")
    own.flush()
    assert not path.exists()


@pytest.mark.slow
def test_changes_are_written_after_a_delay(qtbot, path):
    own = PreferencesFile(path)
    with qtbot.waitSignal(own.changed) as signal:
        own.put(theme="dark")
    assert signal.args == [{"theme"}]
    qtbot.waitUntil(path.exists)
    assert kept(path) == {"theme": "dark"}


@pytest.mark.parametrize(
    "changes",
    [{"theme": "blue"}, {"text_size": 20}, {"fpr_range": (0.5, 0.5)}, {"fpr_range": (-0.1, 2.0)}],
)
def test_invalid_preference_is_rejected(qapp, path, changes):
    own = PreferencesFile(path)
    with pytest.raises(ValueError, match=r"Expected|Invalid|FPR"):
        own.put(**changes)
    assert own.now == Preferences()


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b"[1, 2]", b"[" * 100_000, b""])
def test_damaged_file_is_renamed_and_reported(qapp, path, content):
    path.parent.mkdir()
    path.write_bytes(content)
    own = PreferencesFile(path)
    assert own.now == Preferences()
    assert "damaged" in own.problem
    assert "preferences.damaged.json" in own.problem
    assert path.with_name("preferences.damaged.json").read_bytes() == content
    own.put(theme="light")
    own.flush()
    assert kept(path) == {"theme": "light"}


def test_invalid_value_does_not_discard_the_others(qapp, path):
    path.parent.mkdir()
    document = {"theme": 7, "text_size": 125, "fpr_range": [0.4, 0.1], "windows": {"a": 1}}
    path.write_text(json.dumps(document))
    own = PreferencesFile(path)
    assert own.now == Preferences(text_size=125)
    assert not own.problem


def test_unknown_keys_of_a_newer_version_are_kept(qapp, path):
    path.parent.mkdir()
    newer = {"theme": {"name": "dusk"}, "voice": "calm", "figure": {"dpi": 600, "glow": 3}}
    path.write_text(json.dumps(newer))
    own = PreferencesFile(path)
    own.put(text_size=110, figure=FigureRules(dpi=150))
    own.flush()
    expected = newer | {"text_size": 110, "figure": {"dpi": 150, "glow": 3}}
    assert kept(path) == expected


def test_changes_of_two_programs_are_merged(qapp, path):
    one, other = PreferencesFile(path), PreferencesFile(path)
    one.put_in("folders", "table", "/data")
    other.put_in("folders", "figure", "/figures")
    other.put(theme="dark")
    one.flush()
    other.flush()
    one.put(text_size=120)
    one.flush()
    assert kept(path) == {
        "folders": {"table": "/data", "figure": "/figures"},
        "theme": "dark",
        "text_size": 120,
    }


def test_unwritable_folder_is_ignored(qapp, own_home, path):
    own_home.write_text("a file where the folder should be")
    own = PreferencesFile(path)
    own.put(theme="dark")
    own.flush()
    assert own.now.theme == "dark"


def test_recent_methods_are_unique_and_newest_first(qapp, path):
    own = PreferencesFile(path)
    for method in ("svm", "auc-rls", "svm", "a", "b", "c", "d", "e"):
        own.note_method(method)
    assert own.now.recent_methods == ("e", "d", "c", "b", "a", "svm")


def test_windows_share_the_preferences(qapp, tmp_path, monkeypatch):
    assert preferences() is preferences()
    here = preferences()
    monkeypatch.setenv("AUCSTUDIO_HOME", str(tmp_path / "elsewhere"))
    assert preferences() is not here
