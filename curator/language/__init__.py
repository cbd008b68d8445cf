"""Questions as people write them, SQL or JSON conditions, and their meaning as regions of the public schema."""

from curator.language.ask import Ask, parse_ask
from curator.language.guard import guard_text
from curator.language.meaning import Bin, bins_of, notes_of, region_of
from curator.language.question import MAX_BINS, GroupBy, Question, parse_json
from curator.language.sql_read import parse_sql
from curator.language.sql_write import write_sql

__all__ = [
    "MAX_BINS",
    "Ask",
    "Bin",
    "GroupBy",
    "Question",
    "bins_of",
    "guard_text",
    "notes_of",
    "parse_ask",
    "parse_json",
    "parse_sql",
    "region_of",
    "write_sql",
]
