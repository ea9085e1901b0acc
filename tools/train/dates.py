"""Dates in many written forms, and the same dates as ISO 8601 writes them."""

import datetime
import hashlib

MONTHS = """January February March April May June July August September October November December""".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
FIRST, LAST = datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)
PIVOT = 1970  # two digits name a year of the hundred from here on

# d, dd: day; m, mm: month; b, B: its name, short or long; y, yyyy: year of two or four digits; th: day with its ending;
# a, A: day of the week. Slashes put the month first, dots and dashes the day.
FORMS = """{yyyy}-{mm}-{dd}|{yyyy}/{mm}/{dd}|{yyyy}.{mm}.{dd}|{yyyy}{mm}{dd}|{dd}.{mm}.{yyyy}|{d}.{m}.{yyyy}
{d}. {m}. {yyyy}|{dd}.{mm}.{y}|{mm}/{dd}/{yyyy}|{m}/{d}/{yyyy}|{mm}/{dd}/{y}|{dd}-{mm}-{yyyy}|{d} {B} {yyyy}
{dd} {b} {yyyy}|{d} {b} {y}|{dd}{b}{y}|{dd}-{b}-{yyyy}|{dd}-{b}-{y}|{B} {d}, {yyyy}|{b} {d}, {yyyy}|{b}. {d}, {yyyy}
{B} {th}, {yyyy}|{th} {B} {yyyy}|the {th} of {B}, {yyyy}|{A}, {d} {B} {yyyy}|{a}, {dd} {b} {yyyy}|{A}, {B} {d}, {yyyy}
{a} {b} {d} {yyyy}|{yyyy} {B} {d}|{d} {b} '{y}|{B} {th} '{y}|{yyyy}-{b}-{dd}""".replace("\n", "|").split("|")
UNKNOWN, START, END = range(3)
# Vocabulary of both input and output.
VOCABULARY = ["<unk>", "<s>", "</s>", *" abcdefghijklmnopqrstuvwxyz0123456789-/.,'"]
IDS = {piece: i for i, piece in enumerate(VOCABULARY)}


def ordinal(day):
    return f"{day}{'th' if 10 < day < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def write(date, form):
    """None if two digits of the form would leave the year ambiguous."""
    if "{y}" in form and not PIVOT <= date.year < PIVOT + 100:
        return None
    month, day = MONTHS[date.month - 1], DAYS[date.weekday()]
    return form.format(d=date.day, dd=f"{date.day:02}", m=date.month, mm=f"{date.month:02}", b=month[:3], B=month,
                       y=f"{date.year % 100:02}", yyyy=date.year, th=ordinal(date.day), a=day[:3], A=day)


def is_held_out(date):
    return int(hashlib.sha256(date.isoformat().encode()).hexdigest(), 16) % 10 == 0


def all_dates():
    return [FIRST + datetime.timedelta(days=i) for i in range((LAST - FIRST).days + 1)]


def draw(dates, count, rng):
    """`count` pairs of text and date, forms and dates at random."""
    pairs = []
    while len(pairs) < count:
        date = dates[rng.integers(len(dates))]
        text = write(date, FORMS[rng.integers(len(FORMS))])
        if text:
            pairs.append((text, date.isoformat()))
    return pairs


def encode(text):
    return [IDS.get(c, UNKNOWN) for c in text.strip().lower()]


def decode(ids):
    """Up to the end symbol."""
    ids = list(ids)
    return "".join(VOCABULARY[i] for i in ids[:ids.index(END) if END in ids else len(ids)])
