"""Builders of clusters, summaries and supports."""

import numpy as np
import pytest

from fairjudge.domain import Cluster, Summary
from fairjudge.fairness.support import Support
from fairjudge.fairness.values import label_corpus


def make_cluster(eid, documents, *, name="side"):
    """Return a cluster of (value, text) `documents`; None omits the attribute."""
    return Cluster.model_validate(
        {
            "eid": eid,
            "articles": [
                {
                    "aid": f"{eid}-{i}",
                    "content": text,
                    "attributes": {} if value is None else {name: value},
                }
                for i, (value, text) in enumerate(documents)
            ],
        }
    )


def make_support(eid, matrix, *, system="s", **more):
    matrix = np.array(matrix, dtype=float)
    return Support(
        eid=eid,
        system=system,
        aids=tuple(f"{eid}-{i}" for i in range(matrix.shape[0])),
        units=tuple(f"unit {j}" for j in range(matrix.shape[1])),
        probabilities=matrix,
        **more,
    )


@pytest.fixture
def odd_corpus():
    """Return one valid set, and one of every kind that cannot be measured."""
    clusters = [
        make_cluster("good", [("a", "slow service"), ("a", "slow food"), ("b", "nice wine")]),
        make_cluster("one", [("a", "slow"), ("a", "rude")]),
        make_cluster("single", [("b", "nice")]),
        make_cluster("unlabelled", [(None, "nice"), ("unknown", "slow")]),
        make_cluster("partly", [("a", "slow"), ("b", "nice"), (None, "wine")]),
        make_cluster("silent", [("a", "slow"), ("b", "nice")]),
        make_cluster("unsupported", [("a", "slow"), ("b", "nice")]),
        make_cluster("blank", [("a", ""), ("b", " ")]),
    ]
    texts = {
        "good": "Slow service, nice wine.", "one": "Slow.", "single": "Nice.",
        "unlabelled": "Nice.", "partly": "Nice wine.", "silent": "  ",
        "unsupported": "Xylophones!", "blank": "Slow.",
    }  # fmt: skip
    summaries = [Summary(eid=eid, system="s", text=text) for eid, text in texts.items()]
    return label_corpus(clusters, attribute="side"), summaries
