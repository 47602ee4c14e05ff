"""The scale of the options ``--scale``, ``--options`` and ``--stars``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from fairjudge.domain import ProtocolName
from fairjudge.errors import InputError
from fairjudge.protocols import PROTOCOLS
from fairjudge.scales import Level, Scale, binary, likert, load_scale, options, pairwise, stars

_DEFAULTS: Mapping[str, Callable[[], Scale]] = {
    "likert": likert,
    "binary": binary,
    "pairwise": pairwise,
}


def scale_from_options(
    protocol: ProtocolName,
    *,
    scale: str | None = None,
    answers: str | None = None,
    with_stars: bool = False,
) -> Scale:
    """Return the scale of the options ``--scale``, ``--options`` or ``--stars``.

    Parameters
    ----------
    scale : str, optional
        A range such as ``"1-5"``, or the path of a scale file (``.toml``).
    answers : str, optional
        Answers separated by commas, with values 1 to n in this order. For ``"pairwise"``: first,
        second, tie. For ``"binary"``: 0 and 1; yes/no and true/false have their meaning.
    with_stars : bool
        Whether to use one to five stars.
    """
    if sum((scale is not None, answers is not None, with_stars)) > 1:
        raise InputError("pass only one of --scale, --options and --stars")
    if answers is not None:
        return _from_answers(protocol, [part.strip() for part in answers.split(",")])
    if scale is not None and scale.endswith(".toml"):
        result = load_scale(scale)
    elif scale is not None or with_stars:
        result = stars() if scale is None else _from_range(scale)
    else:
        result = _DEFAULTS[protocol]()
    check_fits(result, protocol)
    return result


def check_fits(scale: Scale, protocol: ProtocolName) -> None:
    """Raise `InputError` if `scale` does not fit `protocol`."""
    values = {level.value for level in scale.levels}
    fits = scale.kind != "pair"
    if PROTOCOLS[protocol].paired:
        fits = not fits
    elif PROTOCOLS[protocol].yes_no:
        fits = values == {0, 1}
    if not fits:
        raise InputError(f"scale {scale.name!r} does not fit --protocol {protocol}")


def _from_range(text: str) -> Scale:
    match = re.fullmatch(r"\s*(\d{1,3})\s*-\s*(\d{1,3})\s*", text, re.ASCII)
    low, high = (int(match[1]), int(match[2])) if match else (0, 0)
    if not low < high <= low + 100:
        raise InputError(f"expected a range such as 1-5, not {text!r}", field="--scale")
    return likert([""] * (high - low + 1), low=low)


def _from_answers(protocol: ProtocolName, answers: list[str]) -> Scale:
    limit = {"likert": 100, "binary": 2, "pairwise": 3}[protocol]
    if not 2 <= len(answers) <= limit:
        raise InputError(
            f"--protocol {protocol} requires 2 to {limit} answers, found {len(answers)}",
            field="--options",
        )
    if PROTOCOLS[protocol].paired:
        return pairwise(answers)
    if PROTOCOLS[protocol].graded:
        return options(answers)
    no, yes = answers
    if {no.lower(), yes.lower()} in ({"yes", "no"}, {"true", "false"}):
        return binary()
    levels = (Level(answer=no, value=0.0), Level(answer=yes, value=1.0))
    return Scale(name=f"binary-{no}-{yes}", kind="choice", levels=levels)
