"""What stands in one leaderboard, and what apart."""

from fairjudge.domain import Judgement
from fairjudge.scores.leaderboards import leaderboards


def rating(value, **more):
    fields = {"eid": "e", "system": "s", "aspect": "coverage", "protocol": "likert", "judge": "j"}
    return Judgement.model_validate({**fields, "value": value, **more})


def test_derived_checklist_scores_have_a_separate_leaderboard():
    judged, derived = leaderboards(
        [rating(4.0), rating(2.0, derived_from="checklist")], n_resamples=100
    )
    assert [item.mean.value for item in (*judged.standings, *derived.standings)] == [4.0, 2.0]
    assert (judged.protocol_label, derived.protocol_label) == ("likert", "likert from checklists")
    assert {judged.protocol, derived.protocol} == {"likert"}
