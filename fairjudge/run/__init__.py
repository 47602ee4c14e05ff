"""The composition root: from options to objects, and from objects to a run."""
