"""Results that R's help pages print, for the calibrators."""

import numpy as np

from fairjudge.calibration.calibrators import Calibrator, fit_calibrator


def test_isotonic_fit_matches_isoreg():
    # ?isoreg: isoreg(c(1, 0, 4, 3, 3, 5, 4, 2, 0)) fits 0.5 0.5 3 3 3 3 3 3 3; here each point
    # stands five times, because fewer than 30 labels are refused.
    scores = np.repeat(np.arange(1.0, 10.0), 5)
    labels = np.repeat([1.0, 0.0, 4.0, 3.0, 3.0, 5.0, 4.0, 2.0, 0.0], 5)
    result = fit_calibrator("isotonic", scores, labels, score_range=(1, 9))
    assert isinstance(result, Calibrator)
    fitted = result.curve(np.arange(1.0, 10.0))
    assert np.allclose(fitted, [0.5, 0.5, 3, 3, 3, 3, 3, 3, 3], atol=1e-12)
