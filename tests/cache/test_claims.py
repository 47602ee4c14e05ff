"""Claims on what is being asked, between processes that share a cache's folder."""

from __future__ import annotations

import subprocess
import sys

from fairjudge.cache.claims import Claims

HOLDS = """
import sys
from pathlib import Path
from fairjudge.cache.claims import Claims
claims = Claims(Path(sys.argv[1]))
print(claims.claim("ab"), flush=True)
sys.stdin.read()
"""


def test_what_another_process_has_claimed_is_not_to_be_had_until_it_ends(tmp_path):
    claims = Claims(tmp_path)
    command = [sys.executable, "-c", HOLDS, str(tmp_path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout.readline() == "True\n"
        assert not claims.claim("ab")
        assert claims.claim("cd")
        assert claims.claim("aa")  # a claim is of one key, not of its neighbours
        assert claims.claim("ac")
        other.stdin.close()
        assert other.wait(timeout=60) == 0
    assert claims.claim("ab")
    claims.close()


def test_a_claim_that_is_released_is_free_for_others(tmp_path):
    claims = Claims(tmp_path)
    assert claims.claim("ab")
    claims.release("ab")
    command = [sys.executable, "-c", HOLDS, str(tmp_path)]
    other = subprocess.run(command, input="", capture_output=True, text=True, check=True)
    assert other.stdout == "True\n"
    claims.close()


def test_a_folder_that_holds_no_claims_blocks_no_call(tmp_path):
    claims = Claims(tmp_path / "absent")
    assert claims.claim("ab")
    claims.release("ab")
    claims.close()


def test_claims_end_with_what_took_them_and_may_be_taken_again(tmp_path):
    claims = Claims(tmp_path)
    claims.release("ab")  # nothing was claimed
    assert claims.claim("ab")
    claims.close()
    claims.close()
    command = [sys.executable, "-c", HOLDS, str(tmp_path)]
    other = subprocess.run(command, input="", capture_output=True, text=True, check=True)
    assert other.stdout == "True\n"
    assert claims.claim("ab")
    claims.close()


def test_others_may_read_the_file_of_claims_and_not_run_it(tmp_path):
    claims = Claims(tmp_path)
    assert claims.claim("ab")
    (file,) = (path for path in tmp_path.iterdir() if path.is_file())
    assert file.stat().st_mode & 0o133 == 0
    claims.close()
