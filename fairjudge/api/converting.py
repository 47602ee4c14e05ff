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
        Opt("Files, data sets on disk, or folders of related files.", argument=True),
    ],
    columns: Annotated[
        Mapping[str, str | Sequence[str]] | None,
        Opt(
            "Columns whose names are not recognised: documents=COLUMN, content=, eid=, system=, "
            "text=, reference=, annotator=, aspect=, value=. Repeatable: each text=COLUMN is a "
            "system and each value=COLUMN an aspect; text:SYSTEM=COLUMN and value:ASPECT=COLUMN "
            "set their names.",
            flag="--map",
            metavar="FIELD=COLUMN,...",
            parse=column_map,
            repeatable=True,
            merge=merge_columns,
        ),
    ] = None,
    group: Annotated[
        str | None,
        Opt("Each row is an article; rows with the same value in this column form a cluster."),
    ] = None,
    split: Annotated[
        str | None,
        Opt("Separator of the documents within one text, such as '|||||'."),
    ] = None,
    attributes: Annotated[
        Sequence[str],
        Opt("Column to keep as an attribute of articles. Repeatable.", flag="--attribute"),
    ] = (),
    values: Annotated[
        Mapping[str, float] | None,
        Opt(
            "Numbers of verbal ratings, such as good=1,bad=0. Repeatable.",
            metavar="WORD=NUMBER,...",
            parse=word_values,
            repeatable=True,
            merge=merge_values,
        ),
    ] = None,
    system: Annotated[
        str | None,
        Opt("System of summaries without one. Default: the file's name."),
    ] = None,
    skip_bad: bool = False,
) -> Converted:
    r"""Convert data in other layouts to clusters, references, summaries and labels.

    Parameters
    ----------
    *inputs : str or Path
        Files, folders written by Hugging Face's ``save_to_disk``, or folders of files. Files are
        joined by id, where the column that groups the rows of one file contains the ids of others;
        files without ids are joined by row number if they have the same number of rows.
    columns : mapping, optional
        One or several columns by field; ignored for files without that column. ``"text:gpt"`` is a
        column of summaries by ``gpt``, ``"value:clarity"`` one of ratings of clarity. Fields of
        nested objects are columns such as ``"meta.story"``.
    group : str, optional
        The column whose values group rows into clusters; each row is an article.
    split : str, optional
        Separator of the documents within one text; by default that of Multi-News.
    attributes : sequence of str
        Columns of articles to keep as attributes; by default those with common names, like
        ``stars``.
    values : mapping, optional
        Numbers of verbal ratings, such as ``{"good": 1, "bad": 0}``.
    system : str, optional
        The system of summaries without one; by default the file's name, or ``"reference"`` for a
        ``summary`` in the same row as documents.
    skip_bad : bool
        Skip and count rows that cannot be read.

    Returns
    -------
    Converted
        ``clusters``, ``references``, ``summaries``, ``labels``, the recognised layout of each file
        (``files``), and what was excluded with reasons; ``write(folder)`` writes them.

    Raises
    ------
    InputError
        If a file cannot be read or its layout is not recognised.
    ConfigurationError
        If a specified column does not exist.

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
        raise ConfigurationError("nothing to convert: pass a file")
    result = convert_files([Path(str(value)) for value in inputs], settings, skip_bad=skip_bad)
    warnings = tuple(python_words(warning, convert) for warning in result.warnings)
    return replace(result, warnings=warnings)
