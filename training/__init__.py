"""Trains the models that ship in `fairjudge/scorers/trained/`; not part of the package.

`python -m training train`, `export` and `evaluate` are the commands; `../shared/data` is read.
"""
