"""What `--terms nltk` says where NLTK or its data is not installed."""

import sys

import pytest

from fairjudge.errors import ConfigurationError, MissingExtraError
from fairjudge.scorers.nltk_terms import NltkTerms, load_nltk_terms


def test_without_nltk_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "nltk", None)
    with pytest.raises(MissingExtraError, match=r"--terms nltk needs an extra.*fairjudge\[nltk\]"):
        load_nltk_terms()


def test_without_its_data_the_packages_are_named(monkeypatch, tmp_path):
    nltk = pytest.importorskip("nltk", reason="no NLTK; install the extra [nltk]")
    (tmp_path / "corpora" / "stopwords").mkdir(parents=True)
    monkeypatch.setattr(nltk.data, "path", [str(tmp_path)])
    needed = "wordnet averaged_perceptron_tagger_eng punkt_tab"
    with pytest.raises(ConfigurationError, match=f"python -m nltk.downloader {needed}$"):
        load_nltk_terms()


def test_the_fingerprint_names_version_and_stop_words():
    def terms(*stop_words):
        return NltkTerms(
            str.split, stop_words=frozenset(stop_words), term_of=str.upper, version="3.9"
        )

    assert terms("the").terms("The END the Start") == ("END", "START")
    assert terms("the").fingerprint.startswith("nltk@3.9+stop@")
    assert terms("the").fingerprint != terms("a").fingerprint
