"""The same stream under other settings."""

from decimal import Decimal

from curator.laboratory.scenario import Scenario, Split
from curator.mechanism.comparators.events import AllotmentSet, Asked, Bin, Event, Settings
from tests.comparators.streams import asks, outcomes, settings

STREAM: list[Event] = [
    settings(10),
    AllotmentSet("alice", 3),
    asks("alice", {"q": 3}),
    settings(20),
    asks("bob", {"r": 1}),
]


def test_a_scenario_replaces_all_settings_by_its_own() -> None:
    changed = Scenario(rho_total=1000, xi=Decimal("0.1"), kappa=Decimal(1), k=2, cap=5).apply(STREAM)
    assert changed[0] == Settings(rho_total=1000, rho_est=100, rho_ans=900, kappa=Decimal(1), k=2, cap=5)
    assert not any(isinstance(event, Settings) for event in changed[1:])
    assert changed[1:] == [event for event in STREAM if not isinstance(event, Settings)]


def test_the_split_is_as_given_equal_or_none() -> None:
    scenario = {split: Scenario(rho_total=9, xi=Decimal(0), split=split).apply(STREAM) for split in Split}
    assert AllotmentSet("alice", 3) in scenario[Split.AS_GIVEN]
    assert scenario[Split.EQUAL][1:3] == [AllotmentSet("alice", 4), AllotmentSet("bob", 4)]
    assert AllotmentSet("alice", 3) not in scenario[Split.EQUAL]
    assert [event for event in scenario[Split.NONE] if isinstance(event, AllotmentSet)] == []
    assert outcomes("residual", scenario[Split.AS_GIVEN])[1].charge == 0  # bob has no allotment
    assert outcomes("residual", scenario[Split.NONE])[1].charge == 1


def test_alpha_raises_weights_to_its_power_within_their_bounds() -> None:
    question = Asked("alice", "q", (Bin("q", 1, Decimal(4)), Bin("r", 1, Decimal(400))))
    changed = Scenario(rho_total=9, alpha=Decimal(2)).apply([question])[1]
    assert isinstance(changed, Asked)
    assert [b.weight for b in changed.bins] == [Decimal(16), Decimal(1000)]
    assert Scenario(rho_total=9).apply([question])[1] == question
