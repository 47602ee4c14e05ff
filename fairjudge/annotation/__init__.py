"""Labels by people: planning, assignment and storage. The pages are in ``web``."""
