"""Detect encodings other than UTF-8.

A reading is good where its letters are those of one language, words begin with capitals or have
none, and symbols do not stand inside words. Equally good readings are told, with a word in both.
"""

from __future__ import annotations

import dataclasses
import re
import unicodedata

_LATIN = {
    "cp1252": [
        "äöüß", "àâæçéèêëîïôœùûüÿ", "áéíñóúü", "åäöéæø", "ãáàâçéêíõóôú", "àèéìíòóù", "ëïéèöüó",
        "áéíóúýþðæö",
    ],
    "cp1250": ["ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áéíóöőúüű", "ăâîşţ", "čćđšž", "áäčďéíľĺňóôŕšťúýž"],
    "cp1254": ["çğıiöşüâî"],
    "cp1257": ["āčēģīķļņšūž", "ąčęėįšųūž", "äõöüšž"],
}  # fmt: skip
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґўђјљњћџ"
_COMMON_CYRILLIC = "оеаинтсрвлкмдпуя"
_GREEK = "αβγδεζηθικλμνξοπρσςτυφχψωάέήίόύώϊϋ"
_HEBREW = "אבגדהוזחטיךכלםמןנסעףפץצקרשת"
_ARABIC = "ابتثجحخدذرزسشصضطظعغفقكلمنهويةىآأإؤئء"
_THAI = "".join(map(chr, range(0x0E01, 0x0E5C)))
# Vowels above and below letters, which are no letters of their own.
_THAI_SIGNS = re.compile("[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]")
# Symbols that stand in tables beside words in any language.
_SYMBOLS = set("°µ€£§²³½¼¾±×·–—“”‘’„…®©™«»º\u00a0¿¡¢¥¹¶")

# The likelier ones first, as ties go to them.
_CANDIDATES = (
    "cp1252", "iso8859_15", "cp1250", "cp1251", "shift_jis", "gb18030", "euc_jp", "big5", "euc_kr",
    "koi8_r", "cp1253", "cp1254", "cp1257", "cp1255", "cp1256", "mac_roman", "cp850", "cp866",
    "iso8859_5", "iso8859_2", "cp874",
)  # fmt: skip
_ALPHABETS = {
    "cp1252": _LATIN["cp1252"], "iso8859_15": _LATIN["cp1252"], "mac_roman": _LATIN["cp1252"],
    "cp850": _LATIN["cp1252"],
    "cp1250": _LATIN["cp1250"], "iso8859_2": _LATIN["cp1250"], "cp1254": _LATIN["cp1254"],
    "cp1257": _LATIN["cp1257"], "cp1251": [_CYRILLIC], "koi8_r": [_CYRILLIC], "cp866": [_CYRILLIC],
    "iso8859_5": [_CYRILLIC], "cp1253": [_GREEK], "cp1255": [_HEBREW], "cp1256": [_ARABIC],
    "cp874": [_THAI],
}  # fmt: skip
_OWN_SCRIPT = ("cp1251", "koi8_r", "cp866", "iso8859_5", "cp1253", "cp1255", "cp1256", "cp874")
_NEAR = 0.9
_MOST_WORDS = 200
_PAIR = re.compile(r"[^\x00-\x7f]{2}")
_WORD = re.compile(r"[^\W\d_]+")
# Currencies and blanks that group belong to numbers; single accented letters do not.
_BESIDE_DIGITS = re.compile(
    "(?<=[0-9])[\u00a0\u20ac\u00a3\u00a5\u00b0\u2019](?![^\\W\\d_])|(?<=[0-9][ \u00a0])\u20ac|"
    "\u00b0(?=[CF](?![^\\W\\d_]))|\u00b5(?=[glmLMsVA](?![^\\W\\d_]))|(?<=m)[\u00b2\u00b3]"
)
_WITHIN_NUMBER = re.compile(r"(?<=[0-9])[^\W\d_\x00-\x7f](?=[.,]?[0-9])")
_AMONG_DIGITS = re.compile(r"(?<=[0-9])[ \u00a0]?[^\W\d_\x00-\x7f](?![^\W\d_])")


@dataclasses.dataclass(frozen=True)
class Guess:
    """A guessed encoding.

    Attributes
    ----------
    encoding : str
    other : str
        Another one that is about as good; empty if there is none.
    words : tuple of str
        One word as it reads in both.
    """

    encoding: str
    other: str = ""
    words: tuple[str, str] = ("", "")


def guess_encoding(sample: bytes) -> Guess:
    """Guess the encoding of bytes that are not UTF-8."""
    scored: list[tuple[float, str, str]] = []
    for encoding in _CANDIDATES:
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
    """Return a word that was UTF-8, read in another encoding and written again, and what it was.

    Both are empty unless most words with other characters than ASCII's are such.
    """
    mended = {word: once for word in _words(text)[:_MOST_WORDS] if (once := _read_once(word))}
    count = len(set(_words(text)[:_MOST_WORDS]))
    return next(iter(mended.items())) if 2 * len(mended) > count else ("", "")


def _read_once(word: str) -> str:
    for encoding in ("cp1252", "latin-1"):
        try:
            return word.encode(encoding).decode("utf-8")
        except UnicodeError:
            continue
    return ""


def _words(text: str) -> list[str]:
    """List texts between ASCII characters that contain others."""
    return [w for w in re.findall(r"[^\x00-\x40\[-`{-\x7f]+", text) if not w.isascii()]


def _score(text: str, encoding: str) -> float:
    """Judge a reading between 0 and 1."""
    text = _THAI_SIGNS.sub("", text)
    strange = [c for c in text if not c.isascii()]
    if not strange:
        return 0.0
    if encoding not in _ALPHABETS:
        return _asian(text, strange, encoding)
    letters = [c for c in strange if c.isalpha()]
    symbols = sum(c in _SYMBOLS for c in strange)
    odd = len(strange) - len(letters) - symbols
    inside = len(re.findall(r"(?<=[^\W\d_])[^\w\s\x00-\x7f](?=[^\W\d_])", text))
    words = [word for word in _WORD.findall(text) if not word.isascii()]
    alphabet = max(sum(c.lower()[0] in known for c in letters) for known in _ALPHABETS[encoding])
    if _ALPHABETS[encoding] is _LATIN["cp1252"]:
        alphabet -= _not_western(text, letters)
    beside = len(_BESIDE_DIGITS.findall(text))
    worth = (0.5 if letters else 0.9) * (symbols - beside) + 0.9 * beside
    # In the other scripts units may be one letter.
    is_own = encoding in _OWN_SCRIPT
    odd += len((_WITHIN_NUMBER if is_own else _AMONG_DIGITS).findall(text))
    share = (alphabet + worth) / len(strange)
    if words and all(len(word) == 1 for word in words):
        share *= 0.5
    if encoding in _OWN_SCRIPT:
        share *= _own_script(words)
        if encoding in ("cp1251", "koi8_r", "cp866", "iso8859_5") and letters:
            share *= 0.6 + 0.4 * sum(c.lower() in _COMMON_CYRILLIC for c in letters) / len(letters)
    elif longer := [word for word in words if len(word) > 1]:
        # An accented letter stands among plain ones.
        accented = sum(not c.isascii() for word in longer for c in word) / sum(map(len, longer))
        share *= 1.0 if accented <= 0.5 else 0.3
    cased = [word for word in words if _is_cased(word)]
    share *= len(cased) / len(words) if words else 1.0
    return max(0.0, share * (1 - 3 * (odd + inside) / len(strange)))


def _not_western(text: str, letters: list[str]) -> int:
    """Count letters that western languages have, but not there or not without others.

    Portuguese has a tilde on o before e; Iceland's letters come with accents. Hungarian and
    Turkish bytes read so lack that.
    """
    astray = len(re.findall("\u00f5(?!e)|\u00d5(?!E)", text))
    accents = set("\u00e1\u00ed\u00f3\u00fa\u00e6")
    if accents.isdisjoint(c.lower() for c in letters):
        astray += sum(c.lower() in "\u00fd\u00fe\u00f0" for c in letters)
    return astray


def _own_script(words: list[str]) -> float:
    """Return the share of words that do not mix scripts."""
    if not words:
        return 0.0
    words = [word for word in words if len(word) > 1] or words
    return sum(not any(c.isascii() for c in word) for word in words) / len(words)


def _is_cased(word: str) -> bool:
    """Return whether capitals are regular: all, none, or the first."""
    return word.islower() or word.isupper() or word[1:].islower() or word == word.lower()


def _asian(text: str, strange: list[str], encoding: str) -> float:
    """Judge a reading in an encoding of two bytes a character, by how common these are."""
    common = sum(_is_common(c, encoding) for c in strange) / len(strange)
    if encoding in ("gb18030", "big5", "euc_jp") and len(strange) >= 4:
        # Korean's syllables are among the bytes of what is common in Chinese.
        is_korean = all(_is_common(_as_korean(c, encoding), "euc_kr") for c in strange)
        common *= 0.95 if is_korean else 1.0
    if encoding == "euc_jp" and not any("\u3041" <= c <= "\u30ff" for c in strange):
        common *= 0.9
    # Bytes of western letters make single characters between plain ones.
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
    """Return whether a character is among those that its standard lists as common."""
    try:
        code = c.encode(encoding)
    except UnicodeEncodeError:
        return False
    is_full_width = "\u3000" <= c <= "\u3003" or "\uff01" <= c <= "\uff5e"
    return (len(code) == 2 and low <= code[0] <= high) or is_full_width
