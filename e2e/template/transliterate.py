#!/usr/bin/env python3
"""Writes common/template/gen/transliteration.h: letters beyond ASCII in ASCII, lower case. Latin letters with marks are
their bases by Unicode's decompositions; the rest is the usual English spelling."""
import unicodedata

OWN = {
    "ß": "ss", "æ": "ae", "ð": "d", "ø": "o", "þ": "th", "đ": "d", "ħ": "h", "ı": "i", "ĳ": "ij", "ĸ": "k", "ŀ": "l", "ł": "l",
    "ŉ": "'n", "ŋ": "ng", "œ": "oe", "ŧ": "t", "ſ": "s", "©": "(c)", "®": "(r)", "«": "<<", "»": ">>", "°": "deg", "µ": "u",
    "¹": "1", "²": "2", "³": "3", "¼": "1/4", "½": "1/2", "¾": "3/4", "×": "x", "÷": "/", "ª": "a", "º": "o", "·": "*",
    "¡": "!", "¿": "?", "£": "ps", "¥": "y=", "¦": "|", "§": "ss", "±": "+-", "¶": "p",
}
GREEK = dict(zip("αβγδεζηθικλμνξοπρστυφχψως",
                 "a b g d e z e th i k l m n x o p r s t u ph kh ps o s".split()))
CYRILLIC = dict(zip("абвгдежзийклмнопрстуфхцчшщъыьэюяѐёђѓєѕіїјљњћќѝўџ",
                    "a b v g d e zh z i i k l m n o p r s t u f kh ts ch sh shch ' y ' e iu ia "
                    "ie io dj gj ie dz i yi j lj nj tsh kj i u dzh".split()))


def spelled(c):
    low = c.lower()
    for table in (OWN, GREEK, CYRILLIC):
        if low in table:
            return table[low]
    base = unicodedata.normalize("NFKD", low)[0]
    if base != low and base in GREEK:
        return GREEK[base]
    if base != low and base in CYRILLIC:
        return CYRILLIC[base]
    return base if base.isascii() and base != low and base.isalnum() else None


print("/* Written by e2e/template/transliterate.py. */\n\nstatic const struct spelling spellings[] = {")
ranges = [(0xA0, 0x250), (0x370, 0x460), (0x1E00, 0x1F00)]
row = []
for low, high in ranges:
    for code in range(low, high):
        text = spelled(chr(code))
        if text:
            row.append('{ 0x%x, "%s" },' % (code, text.replace('"', '\\"')))
            if len(row) == 6:
                print(" ".join(row))
                row = []
print(" ".join(row) + "\n};")
