"""The compared run: chosen, or the other one of exactly two checked runs."""

from tests.gui.conftest import make_record, on, put


def test_compared_run_defaults_to_the_other_checked_run(table_session):
    session, seen = table_session, []
    on(session, "selection", lambda: seen.append(session.compared))
    a, b, c = (
        put(session, make_record(session.table, params={"regularization": r}))
        for r in (0.1, 1.0, 10.0)
    )
    assert session.compared is None
    session.set_look(a.id, "Hide", visible=False)
    assert session.compared == b.id
    session.select(b.id)
    assert session.compared == c.id
    # With two other checked runs, none is compared.
    session.select(a.id)
    assert session.compared is None
    assert seen[-1] is None


def test_manually_compared_run_is_kept(table_session):
    session = table_session
    a, b = (
        put(session, make_record(session.table, params={"regularization": r})) for r in (0.1, 1.0)
    )
    assert (session.selected, session.compared) == (b.id, a.id)
    session.compare_with(None)
    assert session.compared is None
    session.select(a.id)
    assert session.compared is None
    session.compare_with(b.id)
    c = put(session, make_record(session.table, params={"regularization": 10.0}))
    assert (session.selected, session.compared) == (c.id, b.id)
    session.set_look(b.id, "Remove", removed=True)
    assert session.compared == a.id
