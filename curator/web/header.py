"""What every page's header shows about its reader; worked out only where a header is drawn."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from accounts.models import User
from curator.selectors.notices import MOST_COUNTED, unseen
from curator.web.navigation import site_links


def header(request: HttpRequest) -> dict[str, object]:
    """Context processor: the links of the site (a page may bring its own) and the number of notices not seen yet."""
    return {"site_links": SimpleLazyObject(lambda: site_links(request)), "news": SimpleLazyObject(lambda: _news(request))}


def _news(request: HttpRequest) -> str:
    """Empty for none and for whoever has not signed in; otherwise a number that stays short."""
    user = request.user
    if not isinstance(user, User):
        return ""
    number = unseen(user)
    return f"{MOST_COUNTED - 1}+" if number >= MOST_COUNTED else str(number or "")
