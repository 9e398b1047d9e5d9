"""What changes results is found in a table, and comes in the order of its consequence."""

from aucstudio.project.data.finding import KINDS, Finding, ranked, with_findings


def test_findings_are_ranked_by_kind_then_by_rows_and_each_once():
    few, many = Finding("sentinel", "few", ("a",), 3), Finding("sentinel", "many", ("b",), 30)
    leak = Finding("leak", "leak", ("c",))
    assert ranked([few, leak, many, leak]) == (leak, many, few)
    assert len(set(KINDS)) == len(KINDS)


def test_the_sentences_of_findings_are_notes():
    findings = [Finding("missing", "two"), Finding("leak", "one")]
    assert with_findings(findings, ["two", "three"]) == ("one", "two", "three")
