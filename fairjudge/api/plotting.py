"""The figures of a result, drawn on Matplotlib's axes: those that its page shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fairjudge.errors import ConfigurationError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fairjudge.reports.drawing import Drawing


def figures(kind: str, report: Mapping[str, Any]) -> tuple[Drawing, ...]:
    """Return the figures of the JSON of the command `kind`, in the order of the page."""
    from fairjudge.reports.report_page import figures_of

    return figures_of(kind, report)


def titles(every: Sequence[Drawing]) -> tuple[str, ...]:
    """Return what each figure is called."""
    return tuple(drawing.name.partition(": ")[0] for drawing in every)


def draw(every: Sequence[Drawing], ax: Axes | None, name: str | None) -> Axes:
    """Draw the first figure whose title contains `name`, ignoring case; None: the first figure.

    Raises
    ------
    ConfigurationError
        If there is no such figure, or Matplotlib is not installed.
    """
    from fairjudge.reports.svg import on_axes

    pattern = (name or "").casefold()
    names = titles(every)
    for title, drawing in zip(names, every, strict=True):
        if pattern in title.casefold():
            return on_axes(drawing, ax)
    if not names:
        raise ConfigurationError("plot: this result has no figures")
    raise ConfigurationError(f"name: no figure {name!r}; there are: {'; '.join(names)}")


class HasFigures:
    """A result whose figures can be drawn: those of its command's page."""

    __slots__ = ()

    def _figures(self) -> Sequence[Drawing]:
        raise NotImplementedError

    @property
    def plots(self) -> tuple[str, ...]:
        """The titles of the figures that `plot` draws."""
        return titles(self._figures())

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> Axes:
        """Draw a figure of the page on `ax`, or on new axes, and return the axes.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw on.
        name : str, optional
            A part of the title of the figure, one of ``plots``. Default: the first.

        Raises
        ------
        ConfigurationError
            If there is no such figure, or Matplotlib (the extra ``[plots]``) is not installed.
        """
        return draw(self._figures(), ax, name)
