"""A public schema with every kind of column, and short ways to ask about it."""

from curator.language import Question, bins_of, parse_json, parse_sql, region_of
from curator.mechanism.region import Region
from curator.mechanism.schema import Schema

PEOPLE = Schema.from_json(
    {
        "columns": [
            {"name": "age", "kind": "integer", "low": 0, "high": 99, "missing": True, "out_of_domain": "other"},
            {"name": "sex", "kind": "category", "values": ["F", "M"], "out_of_domain": "other"},
            {"name": "city", "kind": "category", "values": ["Rome", "rome", "Paris", "O'Hare", "1"], "missing": True},
            {"name": "income", "kind": "integer", "low": 0, "high": 200000},
            {"name": "share", "kind": "decimal", "low": 0, "high": 1, "step": "0.05", "missing": True},
            {"name": "born", "kind": "date", "low": "1920-01-01", "high": "2020-12-31"},
            {"name": "eligible", "kind": "boolean", "missing": True},
        ]
    }
)


def question(where: str, schema: Schema = PEOPLE) -> Question:
    """The question SELECT COUNT(*) FROM people WHERE …"""
    return parse_sql(f"SELECT COUNT(*) FROM people WHERE {where}", schema=schema, table="people")


def region(where: str, schema: Schema = PEOPLE) -> Region:
    return region_of(question(where, schema), schema)


def region_json(where: object, schema: Schema = PEOPLE) -> Region:
    return region_of(parse_json({"where": where}, schema=schema), schema)


def grouped(rest: str, schema: Schema = PEOPLE) -> dict[tuple[str, ...], Region]:
    """Label and region of each bin of SELECT COUNT(*) FROM people …"""
    asked = parse_sql(f"SELECT COUNT(*) FROM people {rest}", schema=schema, table="people")
    return {part.label: part.region for part in bins_of(asked, schema)}
