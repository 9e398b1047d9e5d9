"""The workflow from the first table to the last figure, by real events on a real screen."""

import csv

import pytest

from aucstudio.project.data.table import read_table
from aucstudio.project.store.model_file import load_model
from tests.conftest import write_table
from tests.gui import real_desk

pytestmark = pytest.mark.slow

PAGES = ("ROC", "Compare", "Pairs", "Model", "Scores", "Data", "Diagnostics")
AREA = "roc_view_sentence_headline"
METHODS = ("Pairwise least squares", "Logistic regression (linear)", "Linear RankSVM")


@pytest.fixture
def files(tmp_path):
    """The paths of all files of a workflow."""
    return {
        "folder": tmp_path,
        "table": write_table(tmp_path / "study.csv"),
        "others": write_table(tmp_path / "others.csv", rows=60, seed=1),
        "model": tmp_path / "ranking.aucmodel",
        "scores": tmp_path / "others-scores.csv",
        "project": tmp_path / "study.aucproj",
    }


def runs_done(count):
    return lambda desk: desk["idle"] and [how for _name, how in desk["runs"]] == ["done"] * count


def says_saved(words):
    return words and words["text"].startswith("Saved")


def in_front(hand, name):
    """Wait until the window of that name has the focus."""
    hand.until("window", name)


# ----------------------------------------------------------------- by pointer


def open_table(hand, files):
    hand.click("welcome_open_data")
    hand.answer_with_file(files["table"])
    hand.until("table", str(files["table"]))
    hand.wait_until_idle()


def choose_method(hand):
    hand.click("choose_methods_button")
    in_front(hand, "method_chooser")
    hand.click_at(hand.place("item", "method_tree", "Linear RankSVM"))
    hand.wait(
        "it to be described",
        lambda title: "Linear RankSVM" in title["text"],
        "widget",
        "method_chosen_title",
    )
    hand.click("choose_method_button")
    in_front(hand, "main_window")
    hand.until("method", "rank-svm")


def run_three_at_once(hand):
    hand.choose("Run", "Runs at once", "2")
    hand.click("choose_methods_button")
    in_front(hand, "method_chooser")
    for words in METHODS:
        hand.tick("method_tree", words)
    hand.click("run_methods_button")
    in_front(hand, "main_window")
    hand.wait("three runs to be done", runs_done(3), "desk")


def visit_pages(hand):
    """Click on each tab and hover; a drag that only Qt sees must not swallow the next click."""
    for page in (*PAGES[1:], *reversed(PAGES[:-1])):
        hand.click_tab(page)
        tab = hand.ask("tabs")[page]
        # Along the tabs, over the picture and back.
        for dx, dy in ((4, 0), (12, 1), (24, 2), (40, 3), (30, 200), (24, 2)):
            hand.do("mousemove", tab["x"] + dx, tab["y"] + dy)


def drag_band(hand):
    hand.click_tab("ROC")
    before = hand.ask("desk")["band"]
    hand.drag(hand.place("spot", before[1], 0.2), hand.place("spot", 0.3, 0.2))
    hand.wait("the range to end at 0.3", lambda desk: abs(desk["band"][1] - 0.3) < 0.02, "desk")
    assert hand.wait_until_idle()["band"][0] == before[0]


def read_threshold(hand):
    hand.click("show_button")
    hand.choose("Threshold and confusion matrix")
    hand.click("operating_rule")
    hand.click_at(hand.place("item", "operating_rule", "FPR at most"))
    hand.click("operating_bound")
    hand.fill("operating_bound", "0.05")
    hand.press("Tab")
    hand.wait("a threshold to be pointed at", lambda desk: desk["threshold"] != 0.0, "desk")
    hand.wait_until_idle()
    said = hand.ask("widget", "operating_threshold")["text"].replace("−", "-")
    assert float(said) == pytest.approx(hand.ask("desk")["threshold"], rel=1e-4)


def export_model(hand, path):
    """Save the model of the dialog that was opened."""
    in_front(hand, "export_model_dialog")
    hand.click("export_save_button")
    hand.answer_with_file(path)
    hand.wait("the model to be saved", says_saved, "widget", "export_words")
    hand.click("export_close_button")
    in_front(hand, "main_window")


def find_the_best(hand):
    """Start a search, open its page, and stop it as soon as a run leads, unless it has ended."""
    hand.click("find_best_button")
    in_front(hand, "find_best_dialog")
    hand.click("best_high")
    hand.fill("best_high", "0.2")
    hand.press("Tab")
    hand.fill("best_minutes", "1")
    hand.press("Tab")
    hand.click("find_best_ok_button")
    in_front(hand, "main_window")
    hand.until("page", "Best")
    headline = "best_view_sentence_headline"
    found = ("leads", "best model found")
    hand.wait(
        "a leader", lambda said: any(one in said["text"] for one in found), "widget", headline
    )
    if not hand.ask("desk")["idle"]:
        hand.click("strip_stop")
    hand.wait("a run to be listed", lambda desk: desk["idle"] and len(desk["runs"]) > 3, "desk")


def score_table(hand, files):
    hand.choose("File", "Score a table…")
    in_front(hand, "score_table_dialog")
    hand.click("score_table_button")
    hand.answer_with_file(files["others"])
    hand.click("score_button")
    hand.click("score_save_button")
    hand.answer_with_file(files["scores"])
    hand.wait("the scores to be saved", says_saved, "widget", "score_words")
    hand.click("score_close_button")
    in_front(hand, "main_window")


def save(hand, files):
    hand.choose("File", "Save project")
    hand.answer_with_file(files["project"])
    hand.until("saved", True)
    hand.wait_until_idle()


def visible_state(hand):
    """Return the state that must be the same when the study is reopened."""
    hand.wait_until_idle()
    desk = hand.ask("desk")
    figures = hand.wait("the figures of all runs", bool, "figures")
    return {key: desk[key] for key in ("table", "method", "band", "runs")}, figures


def assert_files_agree(files):
    """Check that the exported model returns the scores that the window saved."""
    model = load_model(files["model"])
    with files["scores"].open(newline="", encoding="utf-8") as lines:
        scores = [float(row["score"]) for row in csv.DictReader(lines)]
    assert scores == pytest.approx(model.score(read_table(files["others"])).tolist())


# ----------------------------------------------------------------- by keys


def open_table_by_keys(hand, files):
    hand.press("ctrl+o")
    hand.answer_with_file(files["table"])
    hand.until("table", str(files["table"]))
    hand.wait_until_idle()


def run_by_keys(hand):
    """Choose a method and run it; then tick two others, and run those."""
    first, *others = METHODS
    hand.tab_to("choose_methods_button")
    hand.press("space")
    hand.fill("method_search", first)
    hand.press("Return")
    in_front(hand, "main_window")
    hand.until("method", "auc-rls")
    hand.press("ctrl+r")
    hand.wait("a run to be done", runs_done(1), "desk")
    hand.tab_to("choose_methods_button")
    hand.press("space")
    for words in others:
        hand.fill("method_search", words)
        hand.tab_to("method_tree")
        hand.press("space")
        hand.wait(f"{words} ticked", lambda row: row["checked"], "item", "method_tree", words)
        hand.press("shift+Tab")
    hand.tab_to("run_methods_button")
    hand.press("space")
    in_front(hand, "main_window")
    hand.wait("three runs to be done", runs_done(3), "desk")


def turn_pages(hand):
    for key, pages in (("Next", (*PAGES[1:], PAGES[0])), ("Prior", reversed(PAGES))):
        for page in pages:
            hand.press(f"ctrl+{key}")
            hand.until("page", page)
            hand.wait_until_idle()


def set_range_and_threshold(hand):
    hand.press("alt+p")
    hand.tab_to("band_high")
    hand.fill("band_high", "0.3")
    hand.press("Tab")
    hand.until("band", [0.0, 0.3])
    hand.press("alt+w")
    hand.until("popup", "show_menu")
    hand.press("m")
    hand.until("popup", None)
    hand.tab_to("operating_rule")
    hand.type("FPR")
    hand.tab_to("operating_bound")
    hand.fill("operating_bound", "0.05")
    hand.press("Tab")
    hand.wait("a threshold to be pointed at", lambda desk: desk["threshold"] != 0.0, "desk")
    hand.wait_until_idle()


def export_by_keys(hand, files):
    hand.press("ctrl+m")
    in_front(hand, "export_model_dialog")
    hand.press("alt+s")
    hand.answer_with_file(files["model"])
    hand.wait("the model to be saved", says_saved, "widget", "export_words")
    hand.press("Escape")
    in_front(hand, "main_window")


def score_by_keys(hand, files):
    hand.press("ctrl+shift+m")
    hand.until("focus", "score_table_button")
    hand.press("space")
    hand.answer_with_file(files["others"])
    hand.place("widget", "score_button")
    hand.press("alt+s")
    hand.place("widget", "score_save_button")
    hand.press("alt+v")
    hand.answer_with_file(files["scores"])
    hand.wait("the scores to be saved", says_saved, "widget", "score_words")
    hand.press("Escape")
    in_front(hand, "main_window")


def save_by_keys(hand, files):
    hand.press("ctrl+s")
    hand.answer_with_file(files["project"])
    hand.until("saved", True)


def test_workflow_by_keyboard(files):
    with real_desk.screen(1200, 800) as environment:
        with real_desk.program(environment, files["folder"]) as hand:
            open_table_by_keys(hand, files)
            run_by_keys(hand)
            turn_pages(hand)
            set_range_and_threshold(hand)
            export_by_keys(hand, files)
            score_by_keys(hand, files)
            save_by_keys(hand, files)
            before = visible_state(hand)
            hand.press("ctrl+q")
            assert hand.ended() == 0
        with real_desk.program(environment, files["folder"]) as hand:
            hand.press("ctrl+shift+o")
            hand.answer_with_file(files["project"])
            hand.until("saved", True)
            assert visible_state(hand) == before
    assert_files_agree(files)


def test_workflow_by_pointer(files):
    with real_desk.screen(1600, 1000) as environment:
        with real_desk.program(environment, files["folder"]) as hand:
            open_table(hand, files)
            choose_method(hand)
            run_three_at_once(hand)
            visit_pages(hand)
            drag_band(hand)
            read_threshold(hand)
            hand.choose("File", "Export model…")
            export_model(hand, files["folder"] / "first.aucmodel")
            find_the_best(hand)
            assert hand.ask("desk")["band"] == [0.0, 0.2]
            hand.click("best_export_button")
            export_model(hand, files["model"])
            score_table(hand, files)
            save(hand, files)
            before = visible_state(hand)
            hand.choose("File", "Quit")
            assert hand.ended() == 0
        with real_desk.program(environment, files["folder"]) as hand:
            hand.click("recent_file_0")
            hand.until("saved", True)
            assert visible_state(hand) == before
            hand.click_tab("Best")
            hand.place("widget", "best_export_button")
    assert_files_agree(files)
    first = load_model(files["folder"] / "first.aucmodel")
    assert len(first.score(read_table(files["others"]))) == 60


def write_awkward(path):
    """Write an office export: titles, semicolons, decimal commas, missing values, a total."""
    lines = ["Export vom 5.1.2023, Klinik Süd", "", "Nummer;Alter;Wert (mg/l);Ort;Ergebnis"]
    for k in range(120):
        value = "k.A." if k % 17 == 0 else f"1.{200 + 37 * k % 211 + 90 * (k % 3 == 0)},5"
        age = "" if k % 23 == 0 else f"{30 + 7 * k % 41},5"
        place = "n.a." if k % 29 == 0 else "Köln" if k % 2 else "Bern"
        lines.append(f"{k + 1:05d};{age};{value};{place};{'krank' if k % 3 == 0 else 'gesund'}")
    lines.append("Summe;;158.000,5;;")
    path.write_bytes("\r\n".join([*lines, ""]).encode("cp1252"))
    return path


def test_awkward_table_needs_four_clicks_to_its_curve(files):
    """Open, choose the file, Run; typing the path here counts as one click in its dialog."""
    table, clicks = write_awkward(files["folder"] / "klinik.csv"), 0
    with (
        real_desk.screen(1200, 800) as environment,
        real_desk.program(environment, files["folder"]) as hand,
    ):
        hand.click("welcome_open_data")
        hand.answer_with_file(table)
        hand.until("table", str(table))
        clicks += 2
        hand.click("strip_run")
        clicks += 1
        assert hand.wait("a run to be done", runs_done(1), "desk")["page"] == "ROC"
        hand.wait("its area", lambda said: said and "AUC" in said["text"], "widget", AREA)
    assert clicks <= 4
