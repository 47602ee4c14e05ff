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


def test_claim_of_another_process_blocks_until_it_ends(tmp_path):
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


def test_released_claim_is_available_to_others(tmp_path):
    claims = Claims(tmp_path)
    assert claims.claim("ab")
    claims.release("ab")
    command = [sys.executable, "-c", HOLDS, str(tmp_path)]
    other = subprocess.run(command, input="", capture_output=True, text=True, check=True)
    assert other.stdout == "True\n"
    claims.close()


def test_folder_without_claim_support_blocks_no_call(tmp_path):
    claims = Claims(tmp_path / "absent")
    assert claims.claim("ab")
    claims.release("ab")
    claims.close()


def test_claims_end_with_their_owner_and_can_be_retaken(tmp_path):
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


def test_claims_file_is_readable_but_not_executable_by_others(tmp_path):
    claims = Claims(tmp_path)
    assert claims.claim("ab")
    (file,) = (path for path in tmp_path.iterdir() if path.is_file())
    assert file.stat().st_mode & 0o133 == 0
    claims.close()
