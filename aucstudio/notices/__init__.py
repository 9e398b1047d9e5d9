"""Notices: facts about a result as code, severity and values.

The texts are in one catalogue a language, ``en.toml`` beside this module.
"""

from aucstudio.notices.notice import (
    ERROR,
    INFO,
    WARNING,
    Notice,
    notice,
    read_notice,
    texts,
)

__all__ = ["ERROR", "INFO", "WARNING", "Notice", "notice", "read_notice", "texts"]
