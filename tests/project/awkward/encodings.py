"""How letters are bytes."""

from tests.project.awkward.case import X, Y, case


def lettered(words, header="x,name,y", numbers=X, classes=Y):
    rows = [f"{x},{word},{y}" for x, word, y in zip(numbers, words, classes, strict=True)]
    return "\n".join([header, *rows]) + "\n"


def of(words):
    return {"x": X, "name": words, "y": Y}


GERMAN = ["Müller", "Jäger", "Köhler", "Weiß"]
FRENCH = ["café", "élève", "garçon", "naïve"]
POLISH = ["Małgorzata", "Żaneta", "Świętochłowice", "Łódź"]
CZECH = ["Příbram", "Žďár", "Třebíč", "Děčín"]
HUNGARIAN = ["Győr", "Szőlő", "Pécs", "Eger"]
RUSSIAN = ["Москва", "Самара", "Воронеж", "Омск"]
UKRAINIAN = ["Київ", "Львів", "Одеса", "Чернігів"]
GREEK = ["Αθήνα", "Πάτρα", "Λάρισα", "Βόλος"]
TURKISH = ["İzmir", "Muğla", "Eskişehir", "Iğdır"]
CHINESE = ["北京", "上海", "广州", "深圳"]
JAPANESE = ["東京", "大阪", "さくら", "カメラ"]
KOREAN = ["서울", "부산", "대구", "인천"]
HEBREW = ["ירושלים", "חיפה", "אילת", "יפו"]
SPANISH = ["Peña", "José", "Muñoz", "Ángel"]
SWEDISH = ["Malmö", "Umeå", "Gävle", "Örebro"]
TWICE = lettered(GERMAN + GERMAN, numbers=X + X, classes=Y + Y)

CASES = [
    case("utf8", "letters in UTF-8", lettered(GERMAN), of(GERMAN)),
    *(
        case(f"{name}", f"{name}, {len(words)} words", lettered(words), of(words), encoding=page)
        for name, words, page in [
            ("german-cp1252", GERMAN, "cp1252"),
            ("french-latin1", FRENCH, "latin-1"),
            ("spanish-cp1252", SPANISH, "cp1252"),
            ("swedish-latin1", SWEDISH, "latin-1"),
            ("polish-cp1250", POLISH, "cp1250"),
            ("czech-cp1250", CZECH, "cp1250"),
            ("hungarian-cp1250", HUNGARIAN, "cp1250"),
            ("russian-cp1251", RUSSIAN, "cp1251"),
            ("ukrainian-cp1251", UKRAINIAN, "cp1251"),
            ("russian-koi8", RUSSIAN, "koi8_r"),
            ("russian-cp866", RUSSIAN, "cp866"),
            ("greek-cp1253", GREEK, "cp1253"),
            ("turkish-cp1254", TURKISH, "cp1254"),
            ("hebrew-cp1255", HEBREW, "cp1255"),
            ("chinese-gbk", CHINESE, "gbk"),
            ("chinese-gb18030", CHINESE, "gb18030"),
            ("japanese-sjis", JAPANESE, "shift_jis"),
            ("japanese-eucjp", JAPANESE, "euc_jp"),
            ("korean-euckr", KOREAN, "euc_kr"),
            ("german-cp850", GERMAN, "cp850"),
            ("french-mac", FRENCH, "mac_roman"),
            ("german-utf16", GERMAN, "utf-16"),
            ("russian-utf16", RUSSIAN, "utf-16"),
            ("german-utf16le", GERMAN, "utf-16-le"),
            ("german-utf16be", GERMAN, "utf-16-be"),
            ("german-utf32", GERMAN, "utf-32"),
        ]
    ),
    case(
        "degrees",
        "a degree sign alone",
        lettered(["a", "b", "a", "b"], "x °C,name,y"),
        {"x °C": X, "name": ["a", "b", "a", "b"], "y": Y},
        encoding="cp1252",
    ),
    case(
        "euro",
        "the sign of the euro",
        lettered(["5 €", "gut", "b", "c"]),
        of(["5 €", "gut", "b", "c"]),
        encoding="cp1252",
    ),
    case(
        "bad-byte",
        "one byte is no UTF-8",
        lettered(GERMAN).encode() + b"5.5,K\xfchn,u\n",
        {"x": [*X, 5.5], "name": [*GERMAN, "K\ufffdhn"], "y": [*Y, "u"]},
        notes=r"1 byte is not valid UTF-8.* line 6",
    ),
    case(
        "entities",
        "signs as web pages write them",
        "x,name,y\n1.5,A &amp; B,u\n2.5,C,v\n3.5,D&E;,u\n4.5,C,v\n",
        {"x": X, "name": ["A &amp; B", "C", "D&E;", "C"], "y": Y},
        notes="'&amp;' for '&'",
    ),
    case(
        "byte-in-number",
        "the only byte that is not ASCII is within a number",
        b"x,y\n3\xe9.5,u\n" + b"".join(b"%d.5,v\n%d.5,u\n" % (k, k) for k in range(40)),
        {
            "x": [None, *(k // 2 + 0.5 for k in range(80))],
            "y": ["u", *["v", "u"] * 40],
        },
        encoding="cp1252",
        notes="1 cell is not a number",
    ),
    case(
        "bom-again",
        "files put together, of which the second has a mark",
        b"x,y\n1.5,u\n2.5,v\n\xef\xbb\xbfx,y\n3.5,u\n4.5,v\n",
        {"x": X, "y": Y},
        rejected=(4,),
        notes="line 4 left out: the names",
    ),
    case(
        "bom-bad-byte",
        "a byte-order mark, and one byte is no UTF-8",
        b"\xef\xbb\xbf" + lettered(GERMAN).encode() + b"5.5,K\xfchn,u\n",
        {"x": [*X, 5.5], "name": [*GERMAN, "K\ufffdhn"], "y": [*Y, "u"]},
        notes="not valid UTF-8",
    ),
    case(
        "nul",
        "a NUL byte",
        lettered(GERMAN).encode().replace(b"ger,", b"ger\0,"),
        of(GERMAN),
        notes="1 NUL byte was left out",
    ),
    case(
        "lines-of-another",
        "some lines are in another encoding",
        b"".join(
            line.encode("cp1252" if k in (2, 5) else "utf-8")
            for k, line in enumerate(TWICE.splitlines(True))
        ),
        {"x": X + X, "name": GERMAN + GERMAN, "y": Y + Y},
        notes="some lines are not valid UTF-8 and are read as cp1252",
    ),
    case(
        "told",
        "a given encoding",
        lettered(RUSSIAN),
        of(RUSSIAN),
        encoding="koi8_r",
        given={"encoding": "koi8_r"},
    ),
]
