"""Inserting many descriptors or releases in one statement.

The ORM spells out every value of a table with a binary column in the statement's text, which for a histogram of ten thousand bins
takes seconds under the contract's lock; arrays do not. A release's region is copied by the database from its descriptor.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.db import connection

from curator.mechanism.region import Region
from curator.models import Release
from curator.services.versions import AGGREGATE

_DESCRIPTORS = """
    INSERT INTO curator_descriptor (digest, version_id, aggregate, region, text)
    SELECT digest, %s, %s, region, text FROM unnest(%s::text[], %s::bytea[], %s::text[]) AS new (digest, region, text)
    ORDER BY digest
    ON CONFLICT DO NOTHING
"""
_RELEASES = """
    INSERT INTO curator_release
        (uid, contract_id, version_id, descriptor_id, region, value, rho, scale, account, "group", query_id, created_at)
    SELECT
        new.uid, %s, known.version_id, known.digest, known.region, new.value, new.rho, new.scale, %s, new.group, new.query_id, %s
    FROM unnest(%s::uuid[], %s::text[], %s::bigint[], %s::bigint[], %s::text[], %s::uuid[], %s::bigint[])
        WITH ORDINALITY AS new (uid, digest, value, rho, scale, "group", query_id, place)
    JOIN curator_descriptor AS known ON known.digest = new.digest
    ORDER BY new.place
    RETURNING uid, id
"""

ReleaseLine = tuple[UUID, str, int, int, str, UUID, int]  # uid, descriptor, value, rho, scale, group, query


def insert_descriptors(regions: Mapping[str, Region], version_id: int) -> None:
    """Descriptors by digest; what is there already stays. In order of digest, so that two makers never wait in a circle."""
    texts = [region.text() for region in regions.values()]
    codes = [region.to_bytes() for region in regions.values()]
    with connection.cursor() as cursor:
        cursor.execute(_DESCRIPTORS, [version_id, AGGREGATE, list(regions), codes, texts])


def insert_releases(lines: Sequence[ReleaseLine], *, contract_id: int, account: Release.Account, at: datetime) -> dict[UUID, int]:
    """Releases in the order given; returns the row id of each uid."""
    if not lines:
        return {}
    columns = [list(column) for column in zip(*lines, strict=True)]
    with connection.cursor() as cursor:
        cursor.execute(_RELEASES, [contract_id, account.value, at, *columns])
        return dict(cursor.fetchall())
