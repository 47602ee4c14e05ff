"""Convert data in other layouts to FairJudge's records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fairjudge.errors import ConfigurationError
from fairjudge.options.checking import checks_arguments
from fairjudge.options.declaring import (
    Opt,
    column_map,
    merge_columns,
    merge_values,
    word_values,
)

if TYPE_CHECKING:
    from fairjudge.converting.records import Converted


@checks_arguments
def convert(
    *inputs: Annotated[
        object,
        Opt("Files, data sets on disk, or folders of files that belong together.", argument=True),
    ],
    columns: Annotated[
        Mapping[str, str | Sequence[str]] | None,
        Opt(
            "Columns whose names are not recognised: documents=COLUMN, content=, eid=, system=, "
            "text=, reference=, annotator=, aspect=, value=. A field may be given twice: each "
            "text=COLUMN is a system, each value=COLUMN an aspect; text:SYSTEM=COLUMN and "
            "value:ASPECT=COLUMN name them. Repeatable.",
            flag="--map",
            metavar="FIELD=COLUMN,...",
            parse=column_map,
            repeatable=True,
            merge=merge_columns,
        ),
    ] = None,
    group: Annotated[
        str | None,
        Opt("Each row is an article; rows with one value of this column are a cluster."),
    ] = None,
    split: Annotated[
        str | None,
        Opt("What separates the documents within one text, such as '|||||'."),
    ] = None,
    attributes: Annotated[
        Sequence[str],
        Opt("A column of articles to keep as their attribute. Repeatable.", flag="--attribute"),
    ] = (),
    values: Annotated[
        Mapping[str, float] | None,
        Opt(
            "The number of each word in columns of ratings, such as good=1,bad=0. Repeatable.",
            metavar="WORD=NUMBER,...",
            parse=word_values,
            repeatable=True,
            merge=merge_values,
        ),
    ] = None,
    system: Annotated[
        str | None,
        Opt("System of summaries that name none; by default the file's name."),
    ] = None,
    skip_bad: bool = False,
) -> Converted:
    r"""Turn data in any layout to clusters, references, summaries and labels.

    Parameters
    ----------
    *inputs : str or Path
        Files, folders that Hugging Face's ``save_to_disk`` wrote, or folders of files. A
        column that groups the rows of one file has the ids of the others; files without ids belong
        together by the numbers of their rows, if they have equally many.
    columns : mapping, optional
        Field to the column that holds it, or to several; files without that column are read as if
        it were not named. ``"text:gpt"`` is a column of the summaries by ``gpt``,
        ``"value:clarity"`` one of ratings on clarity. Fields of objects are columns such as
        ``"meta.story"``.
    group : str, optional
        The column whose values group rows, each of which is an article.
    split : str, optional
        What separates documents within one text; by default the marks of Multi-News.
    attributes : sequence of str
        Columns of articles to keep as attributes; by default those with usual names, as ``stars``.
    values : mapping, optional
        The number of each word in columns of ratings, such as ``{"good": 1, "bad": 0}``.
    system : str, optional
        Who wrote the summaries of a file that does not say; by default the file's name, and
        ``"reference"`` for a ``summary`` beside documents.
    skip_bad : bool
        Leave rows out that cannot be read, and count them.

    Returns
    -------
    Converted
        ``clusters``, ``references``, ``summaries``, ``labels``, what each file was recognised as
        (``files``), and what was left out and why; ``write(folder)`` writes them.

    Raises
    ------
    InputError
        A file cannot be read, or its columns do not tell what it is.
    ConfigurationError
        A column that is named is not there.

    Examples
    --------
    >>> import fairjudge as fj
    >>> with open("reviews.csv", "w") as file:
    ...     _ = file.write("hotel,stars,review\nA,5,Lovely.\nA,1,Cold soup.\nB,3,Fine.\n")
    >>> conversion = fj.convert("reviews.csv")
    >>> conversion
    Converted(2 clusters, 3 articles (1 to 2 each))
    >>> conversion.clusters[0].articles[1].attributes
    {'stars': '1'}
    """
    from fairjudge.converting.files import convert_files
    from fairjudge.converting.layouts import Settings
    from fairjudge.options.naming import python_words

    settings = Settings(
        columns=columns or {},
        group=group,
        split=split,
        attributes=tuple(attributes),
        system=system,
        values=values or {},
    )
    if not inputs:
        raise ConfigurationError("nothing to convert: name a file")
    converted = convert_files([Path(str(value)) for value in inputs], settings, skip_bad=skip_bad)
    warnings = tuple(python_words(warning, convert) for warning in converted.warnings)
    return replace(converted, warnings=warnings)
