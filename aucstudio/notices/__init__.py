"""Notices: facts about a result as code, severity and values.

The texts are in one catalogue a language, the folder ``en`` beside this module.
"""

from aucstudio.notices.catalogue import (
    ERROR,
    INFO,
    WARNING,
    Notice,
    notice,
    read_notice,
    text,
    texts,
)

__all__ = ["ERROR", "INFO", "WARNING", "Notice", "notice", "read_notice", "text", "texts"]
