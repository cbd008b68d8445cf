"""What Carol sends: a file with its schema, the settings of a contract."""

import json

from django.core.files.uploadedfile import SimpleUploadedFile

from tests.cast import SCHEMA

SCHEMA_TEXT = json.dumps(SCHEMA)


def upload_form(**changes: object) -> dict[str, object]:
    file = SimpleUploadedFile("people.csv", b"age,sex,city,member\n34,F,Rome,true\n51,M,Oslo,false\n")
    return {
        "name": "Panel", "description": "", "source": "", "table": "people", "file": file, "unit": "record", "person_column": "",
        "k": "", "schema": SCHEMA_TEXT,
    } | changes  # fmt: skip


def new_contract(**changes: str) -> dict[str, str]:
    plain = {
        "name": "Panel 2026", "rho_total": "1", "epsilon": "", "delta": "0.000001", "query_cap": "", "ends_on": "", "xi": "0.05",
        "rho_d": "", "kappa": "0.02", "alpha": "1", "beta": "1", "do": "open",
        "stands": "on",
    }  # fmt: skip
    return plain | changes
