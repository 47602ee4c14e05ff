"""`fairjudge prompts`."""

from __future__ import annotations


def test_showing_a_prompt_without_a_version_shows_the_newest(cli):
    assert (
        cli("prompts", "show", "judge/repair").out == cli("prompts", "show", "judge/repair.v2").out
    )
    result = cli("prompts", "show", "judge/repair.v1", code=1)
    assert "no prompt judge/repair.v1" in result.err
