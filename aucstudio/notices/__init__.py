"""Notices: facts about a result as code, severity and values.

The texts are in one catalogue a language, ``en.toml`` beside this module.
"""

from aucstudio.notices.notice import (
    CAUTION,
    ERROR,
    NOTE,
    Notice,
    notice,
    read_notice,
    texts,
)

__all__ = ["CAUTION", "ERROR", "NOTE", "Notice", "notice", "read_notice", "texts"]
