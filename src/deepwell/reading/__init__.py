"""Files to clean text: one small reader a format, the dangerous ones in a process that can be killed."""

from deepwell.reading.document import Document
from deepwell.reading.files import read_file

__all__ = ["Document", "read_file"]
