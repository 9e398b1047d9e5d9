import pytest
from PySide6.QtCore import Qt

from aucstudio.engine import METHODS, InvalidSetting, declared_params
from aucstudio.gui.panels.param_form import ParamForm
from tests.gui.conftest import choose


@pytest.fixture
def form(qtbot):
    made = ParamForm()
    qtbot.addWidget(made)
    return made


@pytest.mark.parametrize("key", METHODS)
def test_form_returns_the_defaults_and_then_the_values_set(form, key):
    form.set_method(METHODS[key])
    params, values = declared_params(METHODS[key]), {}
    assert form.value() == {name: declared.default for name, declared in params.items()}
    for name, declared in params.items():
        if declared.kind == "choice":
            values[name] = list(declared.choices)[-1]
        elif declared.kind == "range":
            values[name] = (0.05, 0.25)
        elif declared.kind == "bool":
            values[name] = not declared.default
        elif declared.kind == "int":
            values[name] = 5
        else:
            values[name] = 0.0625
    form.setValue(values)
    assert form.value() == values


def test_value_that_is_not_offered_is_kept_as_in_the_run(form):
    form.set_method(METHODS["auc-ensemble"])
    values = {**form.value(), "library": "logistic C=0.1; rankboost"}
    form.setValue(values)
    assert form.value() == values
    assert form.editors["library"].currentText() == "as in the run"
    form.setValue({**values, "library": "quick"})
    assert form.value()["library"] == "quick"


def test_inapplicable_settings_are_hidden(form, qtbot):
    form.set_method(METHODS["auc-svm"])
    form.show()
    editors = form.editors
    assert not editors["gamma"].isVisible()
    qtbot.keyClicks(editors["kernel"], "g")
    assert editors["gamma"].isVisible()
    assert not editors["degree"].isVisible()


def test_invalid_value_is_reported_and_not_emitted(form, qtbot):
    form.set_method(METHODS["auc-svm"])
    form.show()
    field = form.editors["C"]
    field.clear()
    emitted = []
    form.valueChanged.connect(lambda: emitted.append(1))
    qtbot.keyClicks(field, "-3")
    hint = form.findChild(object, "hint_C")
    assert hint.isVisible()
    assert "greater than 0" in hint.text()
    assert not emitted
    with pytest.raises(InvalidSetting):
        form.value()
    field.clear()
    qtbot.keyClicks(field, "3")
    assert emitted
    assert form.value()["C"] == 3.0
    assert not hint.isVisible()


def test_hidden_invalid_value_falls_back_to_the_last_valid_one(form, qtbot):
    form.set_method(METHODS["auc-svm"])
    form.setValue({"kernel": "rbf", "gamma": 0.5})
    form.editors["gamma"].setText("wide")
    choose(form.editors["kernel"], "linear")
    assert form.value()["gamma"] == 0.5


@pytest.mark.parametrize(
    ("start", "key", "expected"),
    [
        ("1", Qt.Key.Key_Up, 2.0),
        ("5", Qt.Key.Key_Up, 10.0),
        ("1", Qt.Key.Key_Down, 0.5),
        ("0.3", Qt.Key.Key_Up, 0.5),
        ("1000", Qt.Key.Key_Down, 500.0),
    ],
)
def test_arrows_step_a_power_along_1_2_5(form, qtbot, start, key, expected):
    form.set_method(METHODS["auc-svm"])
    field = form.editors["C"]
    field.setText(start)
    qtbot.keyClick(field, key)
    assert form.value()["C"] == expected


def test_gamma_shows_its_sigma(form, qtbot):
    form.set_method(METHODS["auc-rls"])
    form.show()
    form.setValue({"kernel": "rbf", "gamma": 0.5})
    assert "σ = 1" in form.findChild(object, "hint_gamma").text()


def test_relative_width_is_typed_and_stepped(form, qtbot):
    form.set_method(METHODS["auc-rls"])
    form.show()
    form.setValue({"kernel": "rbf", "gamma": "scale/4"})
    hint = form.findChild(object, "hint_gamma")
    assert hint.text() == "0.25 / (features × variance)"
    field = form.editors["gamma"]
    qtbot.keyClick(field, Qt.Key.Key_Up)
    assert form.value()["gamma"] == "scale"
    assert hint.text() == "1 / (features × variance)"
    for _ in range(9):
        qtbot.keyClick(field, Qt.Key.Key_Up)
    assert form.value()["gamma"] == "scale*16"


def test_setting_the_same_value_keeps_text_and_cursor(form, qtbot):
    form.set_method(METHODS["auc-svm"])
    field = form.editors["C"]
    field.clear()
    qtbot.keyClicks(field, "1e1")
    field.setCursorPosition(1)
    form.setValue({"C": 10.0})
    assert (field.text(), field.cursorPosition()) == ("1e1", 1)
    form.setValue({"C": 20.0})
    assert field.text() == "20"


def test_invalid_text_is_kept_until_another_value_is_set(form, qtbot):
    form.set_method(METHODS["auc-svm"])
    field = form.editors["C"]
    qtbot.keyClicks(field, "e")
    bad = field.text()
    form.setValue({"C": 10.0})
    assert field.text() == bad
    assert form.findChild(object, "hint_C").text()
    form.revert()
    assert field.text() == "10"
    assert not form.findChild(object, "hint_C").text()
