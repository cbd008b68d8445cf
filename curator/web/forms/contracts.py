"""Forms of a contract: a new one, and what a curator may change later."""

from typing import Any

from django import forms

from curator.mechanism import accounting, rho
from curator.mechanism.errors import Refused
from curator.models import Contract, DatasetVersion
from curator.services import contract_settings as limits
from curator.web.fields import ExactField, RhoField

STANDS = "I know that these settings stand once the contract is open: only the total can be raised, the last day moved."


def date_input() -> forms.DateInput:
    """A date as browsers ask for one."""
    return forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


class ContractForm(forms.Form):
    """A new contract; the total in rho, or as epsilon at delta."""

    name = forms.CharField(label="Name", max_length=120, help_text="What its analysts call it.")
    version = forms.ChoiceField(label="Data")
    rho_total = RhoField(label="Total in ρ", required=False)
    epsilon = ExactField(
        label="or as ε", required=False, help_text="About 1 or less is commonly called strict; above 10 says little."
    )
    delta = ExactField(label="at δ", initial=f"{limits.DELTA:f}", help_text="Far below one over the number of people.")
    query_cap = RhoField(label="Cap on one question (ρ)", required=False, help_text="Empty: no cap.")
    ends_on = forms.DateField(
        label="Last day", required=False, widget=date_input(), help_text="Through the end of that day, UTC."
    )
    xi = ExactField(label="ξ, share for diagnostics", initial=f"{limits.XI:f}")
    rho_d = RhoField(label="One diagnostic (ρ)", required=False, help_text="Empty: a hundredth of the share for diagnostics.")
    kappa = ExactField(
        label="κ, price of scarcity", initial=f"{limits.KAPPA:f}", help_text="0: whoever comes first may take all."
    )
    alpha = ExactField(label="α, strength of weights", initial=f"{limits.ALPHA:f}", help_text="0: all questions weigh the same.")
    beta = ExactField(label="β, instability in weights", initial=f"{limits.BETA:f}")

    stands = forms.BooleanField(label=STANDS, required=False)

    EXPERT = ("xi", "rho_d", "kappa", "alpha", "beta")

    def __init__(self, *args: Any, versions: list[DatasetVersion], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(str(row.uid), f"{row.dataset.name}, version {row.number}") for row in versions]
        self.fields["version"] = forms.ChoiceField(label="Data", choices=choices)
        for name in ("rho_total", "epsilon"):
            self.fields[name].either = True  # type: ignore[attr-defined]  # a template's: neither is optional, one of the two is

    @property
    def expert(self) -> list[forms.BoundField]:
        """The settings that most leave as they are."""
        return [self[name] for name in self.EXPERT]

    @property
    def expert_errors(self) -> bool:
        """Whether one of those is wrong, so that they must be seen."""
        return any(name in self.errors for name in self.EXPERT)

    def clean(self) -> dict[str, Any]:
        """One of rho and epsilon must be there; epsilon becomes the largest rho that keeps it."""
        data = super().clean() or {}
        total, epsilon, delta = data.get("rho_total"), data.get("epsilon"), data.get("delta")
        if (total is None) is (epsilon is None) and not {"rho_total", "epsilon"} & set(self.errors):
            self.add_error(
                "rho_total",
                "Give the total either in ρ or as ε, not both." if total is not None else "Give the total in ρ or as ε.",
            )
        elif epsilon is not None and delta is not None:
            try:
                data["rho_total"] = accounting.rho_for(epsilon, delta)
            except Refused as refused:
                self.add_error(refused.field if refused.field in self.fields else "epsilon", refused.detail)
        return data

    def chosen(self) -> dict[str, Any]:
        """The settings as the service takes them."""
        return {key: value for key, value in self.cleaned_data.items() if key not in ("name", "version", "epsilon", "stands")}


def as_typed(contract: Contract) -> dict[str, object]:
    """A draft's settings as one types them."""
    usual = contract.rho_d == max(1, contract.rho_est // limits.DIAGNOSTIC_SHARE)
    amounts = {"rho_total": rho.text(contract.rho_total), "rho_d": "" if usual else rho.text(contract.rho_d)}
    cap = "" if contract.query_cap is None else rho.text(contract.query_cap)
    exact = {name: f"{getattr(contract, name).normalize():f}" for name in ("xi", "kappa", "alpha", "beta", "delta")}
    named = {"name": contract.name, "version": str(contract.version.uid), "ends_on": contract.ends_on}
    return {**named, **amounts, "query_cap": cap, **exact}


class ControlForm(forms.Form):
    """A change of a contract; `title` is its button, `do` what the button says."""

    title = ""
    do = ""
    explain = ""
    danger = False


class ReasonForm(ControlForm):
    """A change that needs a reason."""

    reason = forms.CharField(label="Reason", max_length=2_000, widget=forms.Textarea(attrs={"rows": 2}))


class RaiseForm(ReasonForm):
    """Raise the total."""

    title, do = "Raise the total", "raise"
    explain = (
        "Upwards only, and for good: it weakens the promise to everybody in the data. With two curators the other one decides."
    )
    rho_total = RhoField(label="New total (ρ)")
    field_order = ("rho_total", "reason")


class FreezeForm(ReasonForm):
    """Stop a contract for a while."""

    title, do = "Freeze", "freeze"
    explain = "No question is taken and nothing is charged until it is opened again. Answers stay readable."


class ReopenForm(ReasonForm):
    """Open a frozen contract again."""

    title, do = "Open again", "reopen"
    explain = "Questions are taken again."


class DiscardForm(ReasonForm):
    """End a draft."""

    title, do, danger = "Discard", "close", True
    explain = "For good. Nobody but its curators ever saw it; the record keeps that there was a draft."


class CloseForm(ReasonForm):
    """End a contract."""

    title, do, danger = "Close", "close", True
    explain = "For good. What was released stays readable; nothing can be asked any more."


class EndForm(ControlForm):
    """Change the last day."""

    title, do = "Change the last day", "end"
    explain = "Through the end of that day, UTC. Empty: no end."
    ends_on = forms.DateField(label="Last day", required=False, widget=date_input())
