"""JSON shapes of what auditors look at: receipts, verifications, an explained balance."""

from rest_framework import serializers

from curator.api.fields import RhoField
from curator.api.shapes import Shape
from curator.models import Verification
from curator.selectors.balances import Balance
from curator.selectors.verifications import VerificationPage


class ReceiptShape(Shape):
    """The head of a chain, and all that was charged by then, in the members that anchor files have."""

    chain = serializers.CharField()
    seq = serializers.IntegerField()
    head = serializers.CharField()
    spent = serializers.IntegerField(help_text="whole units of 1e-12 rho")
    at = serializers.CharField()


class EventLineShape(Shape):
    """One event in a line."""

    chain = serializers.CharField()
    title = serializers.CharField(source="chain_title")
    seq = serializers.IntegerField()
    kind = serializers.CharField()
    actor = serializers.CharField()
    at = serializers.DateTimeField()
    query = serializers.UUIDField(allow_null=True)
    charge = RhoField(allow_null=True)
    balance_before = RhoField(allow_null=True)
    balance_after = RhoField(allow_null=True)
    summary = serializers.CharField(help_text="whom it is about, what changed and why, in few words")
    head = serializers.CharField()


class ApprovalShape(Shape):
    """Who let it happen."""

    who = serializers.CharField()
    words = serializers.CharField()
    seq = serializers.IntegerField(allow_null=True, help_text="of the event that says so; null: this one")


class EventPageShape(Shape):
    """One event whole; `body` is exactly what was hashed."""

    event = EventLineShape(source="line")
    reason = serializers.CharField()
    approval = ApprovalShape(allow_null=True)
    previous = serializers.CharField()
    body = serializers.CharField()


class VerificationShape(Shape):
    """A verification, waiting or final."""

    id = serializers.UUIDField(source="uid")
    chains = serializers.ListField(child=serializers.CharField(), source="titles", help_text="what they are called")
    state = serializers.ChoiceField(Verification.State.choices)
    done = serializers.IntegerField(help_text="events looked at so far")
    total = serializers.IntegerField()
    ok = serializers.BooleanField(allow_null=True)
    checked = serializers.SerializerMethodField(help_text="rows looked at, by table")
    first_difference = serializers.CharField(help_text="empty where there is none")
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)

    def get_checked(self, page: VerificationPage) -> dict[str, int]:
        """By table."""
        return dict(page.checked)


class TotalsShape(Shape):
    """What has been spent by some event, and the limit then."""

    spent = RhoField()
    est_spent = RhoField()
    limit = RhoField(allow_null=True, help_text="the account of answers, or the analyst's allotment; null: no limit of one's own")


class BalanceLineShape(Shape):
    """One event that moved a balance."""

    seq = serializers.IntegerField()
    at = serializers.DateTimeField()
    kind = serializers.CharField()
    who = serializers.CharField()
    why = serializers.CharField()
    query = serializers.UUIDField(allow_null=True)
    account = serializers.CharField(help_text="answer, diagnostic or limit")
    amount = RhoField(allow_null=True, help_text="the charge, or the new limit")
    after = TotalsShape()


class BalanceShape(Shape):
    """One page of an explained balance."""

    analyst = serializers.CharField(help_text="empty: the whole contract")
    before = TotalsShape()
    results = BalanceLineShape(source="lines", many=True)
    next = serializers.SerializerMethodField(help_text="the mark for ?after=; null on the last page")
    shown = TotalsShape(help_text="what pages show now")
    agrees = serializers.BooleanField(help_text="on the last page: whether the events lead to what is shown")

    def get_next(self, balance: Balance) -> str | None:
        """The mark of the next page."""
        return balance.more or None


class WaitingShape(Shape):
    """The queue."""

    count = serializers.IntegerField()
    oldest = serializers.IntegerField(allow_null=True, help_text="seconds that the oldest question has waited")


class WorkerShape(Shape):
    """The worker's sign of life, as this web server sees it."""

    state = serializers.CharField(help_text="working, silent, or not seen (it may run on another machine)")
    silence = serializers.IntegerField(allow_null=True, help_text="seconds")


class BurnedShape(Shape):
    """The account of answers after so many charges."""

    charges = serializers.IntegerField()
    at = serializers.DateTimeField()
    spent = RhoField()
    left = RhoField()


class ScarcityShape(Shape):
    """Decisions so far."""

    decided = serializers.IntegerField()
    free = serializers.IntegerField()
    paid = serializers.IntegerField()
    in_part = serializers.IntegerField(source="partial")
    declined = serializers.IntegerField()
    scarce = serializers.IntegerField()


class GaugeShape(Shape):
    """The two accounts."""

    rho_total = RhoField()
    rho_ans = RhoField()
    rho_est = RhoField()
    spent = RhoField()
    left = RhoField()
    est_spent = RhoField()
    allotted = RhoField()
    unlimited = serializers.IntegerField(help_text="analysts without a limit of their own")
    not_allotted = RhoField()
    promised = RhoField(help_text="to invitations that may still be accepted")
    over_allotted = RhoField()
    buys = serializers.CharField(help_text="the account of answers, in words")


class ControlShape(Shape):
    """A control room; at most 200 points of the burn-down, however long the history is."""

    gauge = GaugeShape()
    open_requests = serializers.IntegerField(help_text="budget requests to decide")
    waiting = WaitingShape(source="room.waiting")
    worker = WorkerShape(source="room.worker")
    burned = BurnedShape(source="room.burned", many=True)
    scarcity = ScarcityShape(source="room.scarcity")
