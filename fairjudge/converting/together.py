"""The settings of files that belong together, and the ids that these files share."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

from fairjudge.converting.columns import FIELDS, column_names, name_key
from fairjudge.converting.id_warnings import ids_advice
from fairjudge.converting.layouts import Layout, Settings
from fairjudge.converting.rows import sample_of
from fairjudge.converting.texts import id_of
from fairjudge.errors import ConfigurationError, InputError
from fairjudge.importing.sources import Source
from fairjudge.text.counting import pluralize
from fairjudge.text.suggestions import did_you_mean

_GROUPS = frozenset(map(name_key, FIELDS["group"]))


def settings_by_file(sources: Sequence[Source], settings: Settings) -> list[Settings]:
    """Return the settings of each file, without columns that only other files have.

    Raises
    ------
    ConfigurationError
        If no file has a column in the user's settings.
    """
    by_file = [columns_of(source) for source in sources]
    if not any(by_file):
        return [settings] * len(sources)
    for column in settings.named_columns:
        if not any(column in names for names in by_file):
            raise ConfigurationError(_no_column(column, sources, by_file))
    return [restrict_to_columns(settings, names) for names in by_file]


def columns_of(source: Source) -> tuple[str, ...]:
    """Return the columns of a file."""
    return tuple(dict.fromkeys(name for row in sample_of(source) for name in row))


def _no_column(column: str, sources: Sequence[Source], by_file: Sequence[Sequence[str]]) -> str:
    names_by_file = [", ".join(map(repr, names)) or "none" for names in by_file]
    advice = did_you_mean(column, [name for names in by_file for name in names])
    if len(sources) == 1:
        return f"{sources[0].path}: no column {column!r}; there are {names_by_file[0]}{advice}"
    columns_text = "; ".join(
        f"{source.path} has {names}" for source, names in zip(sources, names_by_file, strict=True)
    )
    return f"no column {column!r}: {columns_text}{advice}"


def restrict_to_columns(settings: Settings, names: Sequence[str]) -> Settings:
    """Return the settings for a file with the columns `names`."""
    mapping = {
        field: [column for column in column_names(spec) if column in names]
        for field, spec in settings.columns.items()
    }
    group = settings.group if settings.group in names else None
    return replace(
        settings,
        columns={field: columns for field, columns in mapping.items() if columns},
        group=group,
        attributes=tuple(name for name in settings.attributes if name in names)
        if group
        else settings.attributes,
    )


def shared_keys(
    sources: Sequence[Source], layouts: Sequence[Layout | None], eids: Collection[str]
) -> tuple[str, ...]:
    """Return the keys of columns by which the rows of one file refer to clusters of another.

    These are the columns that group a file's articles. If clusters are rows without ids, they are
    columns with the usual names of groups: with unique values, and in another file too, or with
    values in `eids`. If there is only one file, unique values suffice.
    """
    keys = [name_key(layout.group) for layout in layouts if layout is not None and layout.group]
    for source, layout in zip(sources, layouts, strict=True):
        if layout is None or layout.n_numbered is None:
            continue
        keys += [
            name_key(name)
            for name in columns_of(source)
            if name_key(name) in _GROUPS and {*values_of(source, name)} & {*eids}
        ]
        if "clusters" not in layout.kinds:
            continue
        other_columns = {
            name_key(name)
            for other_source in sources
            if other_source is not source
            for name in columns_of(other_source)
        }
        if len(sources) == 1 and not eids:
            other_columns |= _GROUPS
        keys += [
            name_key(name)
            for name in columns_of(source)
            if name_key(name) in _GROUPS & other_columns and _is_unique(source, name)
        ]
    return tuple(dict.fromkeys(keys))


def _is_unique(source: Source, column: str) -> bool:
    values = values_of(source, column)
    return None not in values and len({*values}) == len(values)


def values_of(source: Source, column: str) -> list[str | None]:
    """Return the ids in the rows of a column, None for a missing one."""
    return [id_of(row, column) for row in source.objects]


def check_numbers(
    layouts: Sequence[tuple[Path, Layout]], eids: Sequence[str], sources: Sequence[Source]
) -> None:
    """Check that rows without ids can be matched to clusters by their numbers.

    Raises
    ------
    InputError
        If the files have different numbers of rows, or the clusters have ids.
    """
    numbered_layouts = [(path, layout) for path, layout in layouts if layout.n_numbered is not None]
    clusters = [
        (path, layout) for path, layout in layouts if layout.kinds & {"clusters", "references"}
    ]
    by_path = {source.path: source for source in sources}
    for path, layout in numbered_layouts:
        if (path, layout) in clusters:
            continue
        advice = ids_advice(by_path.get(path), layout, eids)
        n_rows = layout.n_numbered or 0
        for other_path, cluster_layout in clusters or numbered_layouts[:1]:
            if cluster_layout.n_numbered is None:
                if cluster_layout.group or [*eids] != [str(number + 1) for number in range(n_rows)]:
                    raise InputError(
                        f"its rows have no ids, but the clusters of {other_path.name} have. "
                        f"{advice}",
                        path=path,
                    )
            elif cluster_layout.n_numbered != n_rows:
                raise InputError(
                    f"{pluralize(n_rows, 'row')} without ids for the "
                    f"{cluster_layout.n_numbered} of {other_path.name}. {advice}",
                    path=path,
                )
