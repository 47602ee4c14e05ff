"""Labels by people: what is asked of whom, kept safely. The page itself is in ``web``."""
