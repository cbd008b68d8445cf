"""Every page of the scene opens for whom it is meant."""

import pytest

from tests.web.scene import Scene, browser_of, make_scene

pytestmark = pytest.mark.usefixtures("db")


def pages(scene: Scene) -> dict[str, list[str]]:
    """Pages by who opens them."""
    inside = f"/contracts/{scene.contract.uid}"
    questions = [f"/queries/{row.uid}/" for row in (scene.first, scene.tighter, scene.histogram, scene.waiting)]
    return {
        "alice": ["/", "/words/", "/password/", f"{inside}/", f"{inside}/ask/", f"{inside}/released/", f"{inside}/compare/",
                  f"{inside}/budget/", f"{inside}/saved/", *questions],
        "bob": [f"/queries/{scene.repeat.uid}/", f"/queries/{scene.scarce.uid}/"],
        "carol": ["/", f"{inside}/control/", f"{inside}/people/", f"{inside}/requests/", f"{inside}/compare/", "/datasets/",
                  "/datasets/new/", f"/datasets/{scene.contract.dataset.uid}/", "/contracts/new/", *questions],
        "dora": ["/", "/audit/", "/audit/verify/", f"/audit/{scene.contract.uid}/1/", f"/audit/{scene.contract.uid}/9/",
                 f"{inside}/compare/", f"{inside}/released/", *questions],
    }  # fmt: skip


def test_every_page_opens_for_its_people() -> None:
    scene = make_scene()
    for name, addresses in pages(scene).items():
        client = browser_of(getattr(scene.people, name))
        for address in addresses:
            answer = client.get(address)
            assert answer.status_code == 200, (name, address, answer.status_code)
