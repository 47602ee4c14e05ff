"""Import judgements, labels, references and summaries from other tools' files."""

from fairjudge.importing.formats import FORMATS, import_file
from fairjudge.importing.records import ImportedFile, RecordedJudgement, Skipped
from fairjudge.importing.replies import FIELDS, ImportedReplies, Repeat, import_replies
from fairjudge.importing.scale_options import scale_from_options

__all__ = [
    "FIELDS",
    "FORMATS",
    "ImportedFile",
    "ImportedReplies",
    "RecordedJudgement",
    "Repeat",
    "Skipped",
    "import_file",
    "import_replies",
    "scale_from_options",
]
