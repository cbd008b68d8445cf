"""Settings of an experiment: what is replayed, and under which contract."""

from decimal import Decimal
from typing import Any

from django import forms

from curator.experiments.scenarios import MOST, MOST_K, Chosen
from curator.laboratory.scenario import Split
from curator.services.contract_settings import MAX_RHO_TOTAL
from curator.web.fields import ExactField, RhoField

SPLITS = [
    (Split.AS_GIVEN.value, "As it was: the allotments of the transcript or file"),
    (Split.EQUAL.value, "Equal shares for all who ask"),
    (Split.NONE.value, "No limits but the contract's total"),
]
#: Lowest, highest and step of the sliders; the box beside takes whatever the limits allow.
SLIDERS = {"xi": ("0", "0.5", "0.01"), "kappa": ("0", "0.5", "0.005"), "alpha": ("0", "3", "0.1"), "beta": ("0", "5", "0.1")}


def _slid(name: str, label: str, help_text: str = "") -> ExactField:
    low, high, step = SLIDERS[name]
    field = ExactField(label=label, help_text=help_text)
    field.widget.attrs |= {"data-low": low, "data-high": high, "data-step": step, "inputmode": "decimal"}
    return field


class ExperimentForm(forms.Form):
    """One experiment."""

    file = forms.FileField(label="Workload file", required=False, help_text="JSON lines; empty: this contract's own transcript.")
    rho_total = RhoField(label="Total in ρ")
    xi = _slid("xi", "ξ, share for diagnostics")
    kappa = _slid("kappa", "κ, price of scarcity")
    alpha = _slid("alpha", "α, strength of weights")
    beta = _slid("beta", "β, instability in weights", "For the transcript: a file brings its weights along.")
    k = forms.IntegerField(label="k, most records of one person", min_value=1, max_value=MOST_K)
    split = forms.ChoiceField(label="How the pool is split", choices=SPLITS)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        total = Decimal(str(self.initial.get("rho_total") or 1))
        around = {"data-low": total / 10, "data-high": total * 5, "data-step": total / 20}
        self.fields["rho_total"].widget.attrs |= {name: f"{value:f}" for name, value in around.items()}

    @staticmethod
    def initial_of(chosen: Chosen) -> dict[str, Any]:
        """A form filled with these settings."""
        kept = chosen.to_json()
        return kept | {name: f"{Decimal(kept[name]).normalize():f}" for name in SLIDERS}

    def clean(self) -> dict[str, Any]:
        """Each share and exponent within the limits that a contract has; a total above nothing."""
        data = super().clean() or {}
        for name, most in MOST.items():
            value = data.get(name)
            if value is not None and not 0 <= value <= most:
                self.add_error(name, f"Expected a number from 0 to {most.normalize():f}.")
        total = data.get("rho_total")
        if total is not None and not 1 <= total <= MAX_RHO_TOTAL:
            self.add_error("rho_total", "Expected an amount of ρ above 0, at most 1,000,000.")
        return data

    def chosen(self) -> Chosen:
        """The settings as the experiment takes them."""
        data = self.cleaned_data
        exact = {name: data[name] for name in SLIDERS}
        return Chosen(rho_total=data["rho_total"], k=data["k"], split=Split(data["split"]), **exact)
