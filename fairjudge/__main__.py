"""``python -m fairjudge``."""

try:
    from fairjudge.cli import main

    main()
except KeyboardInterrupt:  # in the first milliseconds, before `main` handles it
    raise SystemExit(130) from None
