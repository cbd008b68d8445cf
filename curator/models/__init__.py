"""Rows: they hold data and arithmetic limits; rules of meaning in `curator.mechanism`, order of events in `curator.services`."""

from curator.models.contracts import Allotment, AnalystBudget, BudgetRequest, Contract, TotalRaise
from curator.models.datasets import Dataset, DatasetVersion, Upload
from curator.models.experiments import Experiment
from curator.models.holds import Hold
from curator.models.notices import Notice
from curator.models.queries import Answer, Decision, Query, QueryBin
from curator.models.record import AuditEvent, AuditHead, Denial, LedgerEntry
from curator.models.releases import Descriptor, Diagnostic, Release, Support
from curator.models.saved import SavedQuestion
from curator.models.verifications import Verification

__all__ = [
    "Allotment", "AnalystBudget", "Answer", "AuditEvent", "AuditHead", "BudgetRequest", "Contract", "Dataset",
    "DatasetVersion", "Decision", "Denial", "Descriptor", "Diagnostic", "Experiment", "Hold", "LedgerEntry", "Notice", "Query",
    "QueryBin", "Release", "SavedQuestion", "Support", "TotalRaise", "Upload", "Verification",
]  # fmt: skip
