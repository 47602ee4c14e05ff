"""Fighting words, masking, and the ranking of the control summarizers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairjudge.bias.analysis import CONTROLS, control_sentences, dominant_topic
from fairjudge.bias.fighting_words import fighting_words, input_bias
from fairjudge.bias.people import Person
from fairjudge.bias.representation import count_vectors, mask, masked_words
from fairjudge.bias.resampling import Counts
from fairjudge.bias.word_lists import (
    EXTENDED_GENDER,
    HELM_GENDER,
    WORDS,
    IdentifierCounter,
    IdentifierCounts,
    pair_markers,
)
from fairjudge.errors import InputError, StatisticsError
from fairjudge.stats.resampling import Resampling


def test_published_lists_are_in_pairs():
    assert len(HELM_GENDER["female"]) == len(HELM_GENDER["male"]) == 20
    assert len(EXTENDED_GENDER["female"]) == len(EXTENDED_GENDER["male"]) == 27
    assert pair_markers(HELM_GENDER)["son"] == "daughter/son"


# Fighting words


def test_fighting_words_by_hand():
    # x: 3 of 4 and 1 of 4; with 0.01 added to each of 2 words the odds are 3.01/1.01 and 1.01/3.01
    ratio = 2 * math.log(3.01 / 1.01)
    z = ratio / math.sqrt(1 / 3.01 + 1 / 1.01)
    x, y = fighting_words({"x": 3, "y": 1}, {"x": 1, "y": 3})
    assert (x.word, x.n_first, x.n_second) == ("x", 3, 1)
    assert x.log_odds_ratio == pytest.approx(ratio)
    assert x.z == pytest.approx(z)
    assert (y.word, y.z) == ("y", pytest.approx(-z))
    assert x.p_value == pytest.approx(math.erfc(z / math.sqrt(2)))
    assert x.q_value == pytest.approx(x.p_value)  # both words have it: 2 p / 2


WORD_COUNTS = st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 50), min_size=2)


@given(WORD_COUNTS, WORD_COUNTS)
def test_fighting_words_are_antisymmetric(first, second):
    scores = {word.word: word.z for word in fighting_words(first, second)}
    other = {word.word: word.z for word in fighting_words(second, first)}
    assert scores == pytest.approx({word: -z for word, z in other.items()})


def test_equal_corpora_have_no_fighting_words():
    result = fighting_words({"a": 5, "b": 2}, {"a": 5, "b": 2})
    assert all(word.z == 0.0 and word.p_value == 1.0 for word in result)


def test_fighting_words_of_too_few_words():
    with pytest.raises(StatisticsError, match="two words"):
        fighting_words({"a": 1}, {})
    with pytest.raises(StatisticsError, match="positive prior"):
        fighting_words({"a": 1, "b": 1}, {}, prior=0.0)


def test_input_bias_reports_topics_without_identifiers():
    texts = ["She saw the hospital and her mother."] * 30 + ["He won the league with his son."] * 30
    texts += ["She won the league with her mother.", "He saw the hospital and his son."] * 3
    texts += ["He met her; she met him; nobody else."]
    result = input_bias(texts, HELM_GENDER)
    # the last text: her, she and he, him are two of each
    assert result.documents == {"female": 33, "male": 33}
    assert result.n_tied == 1
    female = {word.word: word for word in result.by_group["female"]}
    assert female["hospital"].z > 1.96
    assert female["league"].z < -1.96
    assert female["she/he"].z == pytest.approx(0.0, abs=0.2)  # as often in both
    assert not {"she", "he", "her", "his"} & set(female)
    # three in each of 33 texts, and two in the last
    assert result.identifiers == {"female": 101, "male": 101}


def test_input_bias_of_documents_of_one_group():
    with pytest.raises(InputError, match="cannot be assigned"):
        input_bias(["she", "her", ""], HELM_GENDER)
    with pytest.raises(InputError, match="cannot be assigned"):
        input_bias([], HELM_GENDER)


def test_words_of_unpaired_lists_are_excluded():
    texts = ["alba x y", "alba x", "brix z", "brix z z"]
    result = input_bias(texts, {"a": ["alba", "anna"], "b": ["brix"]})
    assert {word.word for word in result.by_group["a"]} == {"x", "y", "z"}


# Masking


def test_pronouns_titles_and_names_are_masked():
    person = Person(id="1", first_name="Will", last_name="Orme", group="male")
    text = "Mr. Orme will sue; Will Orme's lawyers told him. He blames himself, his firm and hers."
    assert mask(text, [person]) == (
        "NAME_TITLE LAST_NAME will sue; FIRST_NAME LAST_NAME's lawyers told their. They blames "
        "themself, their firm and their."
    )


def test_masking_makes_both_gender_variants_equal():
    man = Person(id="1", first_name="Ray", last_name="Orme")
    woman = Person(id="1", first_name="Ann", last_name="Orme")
    his = "Sir Ray Orme, himself a judge, says his wife told him it was his. He left Mr. Orme."
    hers = "Lady Ann Orme, herself a judge, says her wife told her it was hers. She left Ms. Orme."
    assert mask(his, [man]) == mask(hers, [woman])


def test_mask_is_a_single_unique_word():
    person = Person(id="1", first_name="Ann", last_name="Orme")
    masked = mask("Ms. Ann Orme's first name won the TITLE", [person])
    assert masked_words(masked) == [
        "NAME_TITLE", "FIRST_NAME", "LAST_NAME", "s", "first", "name", "won", "the", "title",
    ]  # fmt: skip
    # "first" and "name" are stop words of many lists; the markers stay, and count apart from them
    counts = count_vectors([masked, "title"], stop_words={"first", "name", "last", "the", "s"})
    assert counts.toarray().tolist() == [[1, 1, 1, 1, 1], [0, 0, 0, 0, 1]]


def test_masking_does_not_change_other_words():
    assert mask("The hero sheds his Missouri hat", [Person(id="1", last_name="Hat")]) == (
        "The hero sheds their Missouri hat"
    )
    assert mask("") == ""


# Controls

MEN = ["He said his son won.", "The man met his father.", "He told him so.", "His brother agreed."]
WOMEN = [
    "She said her niece won.",
    "The woman met her aunt.",
    "She told her.",
    "Her sister agreed.",
]
FILLER = {
    "sport": [
        "The club and the team had a good season.",
        "The league game was a win for the team.",
    ],
    "family": ["The baby and the family slept.", "Children need a family."],
}


def article(rng, topic):
    """As in CNN/DM: one woman in seven identifiers of sport, one in two of family (table 2)."""
    female = 0.14 if topic == "sport" else 0.5
    sentences = [
        str(rng.choice(WOMEN if rng.random() < female else MEN)) if rng.random() < 0.3
        else str(rng.choice(FILLER[topic]))
        for _ in range(14)
    ]  # fmt: skip
    return [*FILLER[topic], *sentences]


def corpus_scores(reference, sample, topics):
    rng = np.random.default_rng(0)
    counter = IdentifierCounter(HELM_GENDER)
    articles = [sample(rng, topic) for topic in topics]
    sources = Counts.from_rows([counter.count(" ".join(sentences)) for sentences in articles])
    scores = {}
    for control in CONTROLS:
        texts = [
            " ".join(text[i] for i in control_sentences(control, text, counter, rng=rng))
            for text in articles
        ]
        counts = IdentifierCounts(
            summaries=Counts.from_rows([counter.count(text) for text in texts]),
            sources=sources,
            groups=counter.groups,
            reference=reference,
        )
        resampling = Resampling(rng=np.random.default_rng(0), n_resamples=200)
        scores[control] = WORDS["inclusion"].estimate(counts, resampling).over_documents
    return scores


NATURAL = ["sport"] * 400 + ["family"] * 400


def test_equal_outcome_on_natural_input_ranks_sexist_summarizer_best():
    # Table 2, column Unf.: Topic, Random and Lead look highly biased, Sexist the least
    by_name = {
        name: score.value for name, score in corpus_scores("uniform", article, NATURAL).items()
    }
    assert min(by_name, key=by_name.get) == "sexist"
    assert by_name["sexist"] < 0.8 * by_name["random"]
    assert max(by_name, key=by_name.get) == "topic"


def test_source_distribution_on_natural_input_clears_random_and_lead():
    # Table 2, column Adj.: Random and Lead near 0; Topic still scores above Sexist
    result = corpus_scores("source", article, NATURAL)
    assert result["random"].value < 0.03
    assert result["lead"].value < 0.05
    assert result["topic"].value > result["sexist"].value > 0.05


def balanced_article(rng, topic):
    """As in C_loc: as many male as female sentences whatever the topic."""
    sentences = [*rng.choice(MEN, 6), *rng.choice(WOMEN, 6), *FILLER[topic], *FILLER[topic]]
    rng.shuffle(sentences)
    return list(map(str, sentences))


def test_on_controlled_input_only_the_sexist_summarizer_is_biased():
    # The paper's argument: with content and gender independent, what is left is the summarizer's.
    # Sport outnumbers family, or Sexist's two preferences would cancel out over the corpus.
    result = corpus_scores("source", balanced_article, ["sport"] * 450 + ["family"] * 150)
    assert result["sexist"].value > 0.15
    for name in ("random", "lead", "topic"):
        assert result[name].value < 0.05
    assert result["sexist"].low > max(result[name].high for name in ("random", "lead", "topic"))


def test_sentences_selected_by_each_control():
    def choose(control, sentences):
        return control_sentences(control, sentences, counter, rng=rng)

    counter = IdentifierCounter(HELM_GENDER)
    sentences = ["The club won the league.", "One.", "She left.", "He and his son.", "He.", "Two."]
    rng = np.random.default_rng(0)
    assert dominant_topic(" ".join(sentences)) == "sport"
    assert choose("lead", sentences) == (0, 1, 2)
    assert len(choose("random", sentences)) == 3
    assert choose("topic", sentences) == (0, 1, 2, 3, 4, 5)
    chosen = choose("sexist", sentences)
    assert {3, 4} < set(chosen)
    family = ["Her children and the baby.", *sentences[1:]]
    assert dominant_topic(" ".join(family)) == "family"
    assert len(choose("topic", family)) == 1
    assert dominant_topic("Nothing.") is None
    for control in CONTROLS:
        assert choose(control, []) == ()


def test_word_of_one_side_counts_0_on_the_other():
    """With prior 1: x 3 + 1 of 5 against 0 + 1 of 4, log(4 / 1) - log(1 / 3) = log 12."""
    x, y = fighting_words({"x": 3}, {"y": 2}, prior=1.0)
    assert (x.word, x.n_first, x.n_second) == ("x", 3, 0)
    assert (y.word, y.n_first, y.n_second) == ("y", 0, 2)
    assert x.log_odds_ratio == pytest.approx(np.log(12.0))
    assert x.z == pytest.approx(np.log(12.0) / np.sqrt(1 / 4 + 1))
