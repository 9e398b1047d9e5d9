"""Detect encodings other than UTF-8.

A decoding is good if its letters belong to one language, capitals only begin words, and symbols
are not inside words. Of two equally good decodings, the notice shows a word in both.
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata

from aucstudio.project.data import text as vocabulary

_SCRIPTS: dict[str, str] = vocabulary.section("encodings")
_LETTERS: dict[str, list[str]] = vocabulary.section("letters")
_COMMON_CYRILLIC = "оеаинтсрвлкмдпуя"
# Vowels above and below letters, which are not letters of their own.
_THAI_SIGNS = re.compile("[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]")
# Symbols in tables of any language.
_SYMBOLS = set("°µ€£§²³½¼¾±×·–—“”‘’„…®©™«»º\u00a0¿¡¢¥¹¶")

# Scripts of other letters than the Latin ones.
_OWN_SCRIPTS = ("cyrillic", "greek", "hebrew", "arabic", "thai")
_NEAR = 0.9
_MOST_WORDS = 200
_PAIR = re.compile(r"[^\x00-\x7f]{2}")
_WORD = re.compile(r"[^\W\d_]+")
# Single letters beside digits.
_AMONG_DIGITS = re.compile(r"(?<=[0-9])[ \u00a0]?[^\W\d_\x00-\x7f](?![^\W\d_])")


@dataclasses.dataclass(frozen=True)
class Guess:
    """A guessed encoding.

    Attributes
    ----------
    encoding : str
    other : str
        Another encoding that is about as good; empty if there is none.
    words : tuple of str
        One word, decoded by both.
    """

    encoding: str
    other: str = ""
    words: tuple[str, str] = ("", "")


def guess_encoding(sample: bytes) -> Guess:
    """Guess the encoding of bytes that are not UTF-8."""
    scored: list[tuple[float, str, str]] = []
    for encoding in _SCRIPTS:
        try:
            text = sample.decode(encoding)
        except UnicodeDecodeError:
            continue
        scored.append((_score(text, encoding), encoding, text))
    if not scored:
        return Guess("latin-1")
    best = max(scored, key=lambda one: one[0])
    if best[0] <= 0:
        western = next((one for one in scored if one[1] == "cp1252"), best)
        return Guess(western[1])
    mine = _words(best[2])
    for score, encoding, text in sorted(scored, key=lambda one: -one[0]):
        theirs = _words(text)
        if encoding != best[1] and score >= _NEAR * best[0] and len(theirs) == len(mine):
            for one, other in zip(mine, theirs, strict=True):
                if one != other:
                    return Guess(best[1], encoding, (one, other))
    return Guess(best[1])


def encoded_twice(text: str) -> tuple[str, str]:
    """Return a word that was decoded wrongly from UTF-8 and encoded again, and the original word.

    Both are empty unless this holds for most words with other characters than ASCII's.
    """
    repaired = {word: once for word in _words(text)[:_MOST_WORDS] if (once := _read_once(word))}
    count = len(set(_words(text)[:_MOST_WORDS]))
    return next(iter(repaired.items())) if 2 * len(repaired) > count else ("", "")


def _read_once(word: str) -> str:
    for encoding in ("cp1252", "latin-1"):
        try:
            return word.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return ""


def _words(text: str) -> list[str]:
    """Return the sequences of letters with other characters than ASCII's."""
    return [w for w in re.findall(r"[^\x00-\x40\[-`{-\x7f]+", text) if not w.isascii()]


def _score(text: str, encoding: str) -> float:
    """Score a decoded text between 0 and 1."""
    text = _THAI_SIGNS.sub("", text)
    others = [c for c in text if not c.isascii()]
    if not others:
        return 0.0
    script = _SCRIPTS[encoding]
    if not script:
        return _asian(text, others, encoding)
    letters = [c for c in others if c.isalpha()]
    symbols = sum(c in _SYMBOLS for c in others)
    odd = len(others) - len(letters) - symbols
    inside = len(re.findall(r"(?<=[^\W\d_])[^\w\s\x00-\x7f](?=[^\W\d_])", text))
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    alphabet = max(sum(c.lower()[0] in known for c in letters) for known in _LETTERS[script])
    if script == "western":
        alphabet -= _not_western(text, letters)
    odd += len(_AMONG_DIGITS.findall(text))
    share = (alphabet + 0.9 * symbols) / len(others)
    if words and all(len(word) == 1 for word in words):
        share *= 0.5
    if script in _OWN_SCRIPTS:
        share *= _own_script(words)
        if script == "cyrillic" and letters:
            share *= 0.6 + 0.4 * sum(c.lower() in _COMMON_CYRILLIC for c in letters) / len(letters)
    cased = [word for word in words if _is_cased(word)]
    share *= len(cased) / len(words) if words else 1.0
    return max(0.0, share * (1 - 3 * (odd + inside) / len(others)))


def _not_western(text: str, letters: list[str]) -> int:
    """Count letters that western languages have only elsewhere, or only with others.

    Portuguese has a tilde on o before e, and Icelandic letters occur with accents. Hungarian and
    Turkish texts lack this if decoded as western.
    """
    count = len(re.findall("\u00f5(?!e)|\u00d5(?!E)", text))
    accents = set("\u00e1\u00ed\u00f3\u00fa\u00e6")
    if accents.isdisjoint(c.lower() for c in letters):
        count += sum(c.lower() in "\u00fd\u00fe\u00f0" for c in letters)
    return count


def _own_script(words: list[str]) -> float:
    """Return the share of words that do not mix scripts."""
    if not words:
        return 0.0
    return sum(not any(c.isascii() for c in word) for word in words) / len(words)


def _is_cased(word: str) -> bool:
    """Return whether capitals are regular: all, none, or the first."""
    return word.islower() or word.isupper() or word[1:].islower() or word == word.lower()


def _asian(text: str, others: list[str], encoding: str) -> float:
    """Score a text in an encoding of two bytes a character, by how common its characters are."""
    common = sum(_is_common(c, encoding) for c in others) / len(others)
    if encoding in ("gb18030", "big5", "euc_jp") and len(others) >= 4:
        # Korean syllables have the bytes of common Chinese characters.
        is_korean = all(_is_common(_as_korean(c, encoding), "euc_kr") for c in others)
        common *= 0.95 if is_korean else 1.0
    # Western letters would become single characters between ASCII characters.
    return common if _PAIR.search(text) else 0.5 * common


def _as_korean(c: str, encoding: str) -> str:
    try:
        return c.encode(encoding).decode("euc_kr")[:1]
    except UnicodeDecodeError:
        return ""


def _is_common(c: str, encoding: str) -> bool:
    name = unicodedata.name(c, "") if c else ""
    if encoding == "euc_kr":
        return name.startswith("HANGUL SYLLABLE")
    if encoding in ("shift_jis", "euc_jp"):
        kana = name.startswith(("HIRAGANA", "KATAKANA")) and not name.startswith("HALFWIDTH")
        return (kana and c < "\uff61") or _is_first_level(c, "shift_jis", 0x88, 0x98)
    if encoding == "big5":
        return _is_first_level(c, "big5", 0xA4, 0xC6)
    return _is_first_level(c, "gb2312", 0xB0, 0xD7)


def _is_first_level(c: str, encoding: str, low: int, high: int) -> bool:
    """Return whether a character is on the first level of its standard."""
    try:
        code = c.encode(encoding)
    except UnicodeEncodeError:
        return False
    return len(code) == 2 and low <= code[0] <= high
