"""Human labels: planning, assignment and storage. The pages are in ``web``."""
