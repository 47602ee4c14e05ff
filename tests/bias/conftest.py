"""What the tests of bias share."""

import numpy as np
import pytest

from fairjudge.bias._resampling import Resampling


@pytest.fixture
def resampling():
    return Resampling(rng=np.random.default_rng(0), n_resamples=400)
