"""Import judgements, labels, references and summaries from other tools' files."""

from fairjudge.importing.formats import import_file
from fairjudge.importing.replies import import_replies
from fairjudge.importing.scale_options import scale_from_options

__all__ = ["import_file", "import_replies", "scale_from_options"]
