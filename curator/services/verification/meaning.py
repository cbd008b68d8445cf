"""What a question and a descriptor are shown as, against what they mean: nobody may read another question than the one answered.

Texts are compared as they are made today, and by their meaning where they differ: an older way of writing is no contradiction.
"""

from collections.abc import Sequence

from curator import language
from curator.language import Question
from curator.mechanism.region import Region, descriptor_digest
from curator.models import Query
from curator.services.verification.difference import require, same
from curator.services.versions import AGGREGATE, Version


def check_question(place: str, row: Query, bins: Sequence[str | None], labels: Sequence[list[str]], version: Version) -> None:
    """The question's JSON and its SQL select exactly `bins`, under these labels."""
    question = Question.from_json(row.question)
    parts = language.bins_of(question, version.schema)
    same(place, "bins of its question", _digests([part.region for part in parts], version), list(bins))
    same(place, "labels", list(labels), [list(part.label) for part in parts])
    if row.sql == language.write_sql(question, schema=version.schema, table=version.table):
        return
    read = language.parse_sql(row.sql, schema=version.schema, table=version.table, of_record=True)
    again = [part.region for part in language.bins_of(read, version.schema)]
    same(place, "bins of its sql", _digests(again, version), list(bins))


def check_text(place: str, text: str, region: Region, version: Version) -> None:
    """A descriptor's text selects its region."""
    if text == region.text():
        return
    sql = f"SELECT COUNT(*) FROM t WHERE {text}"  # noqa: S608 - it is parsed here and never sent to a database
    read = language.parse_sql(sql, schema=version.schema, table="t", of_record=True)
    require(language.region_of(read, version.schema) == region, place, "its text says another region")


def _digests(regions: Sequence[Region], version: Version) -> list[str | None]:
    return [None if region.is_empty else descriptor_digest(version.uid, AGGREGATE, region) for region in regions]
