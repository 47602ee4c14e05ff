"""``python -m fairjudge``."""

from fairjudge.cli import main

main()
