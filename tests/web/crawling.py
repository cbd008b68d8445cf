"""Everything that somebody comes to by following links from the start page: pages, fragments, downloads."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

from accounts.models import User
from tests.web.scene import browser_of

MOST = 400  # answers of one person: a site without end would be told


@dataclass(frozen=True, slots=True)
class Answer:
    """What came from one address."""

    address: str
    status: int
    kind: str  # its media type
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass(slots=True)
class Links(HTMLParser):
    """The addresses that a page leads to by itself or at a press; forms are sent by nobody here."""

    found: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [value for name, value in attrs if value and name in ("href", "hx-get") and tag != "link"]


def crawl(user: User, *more: str) -> Iterator[Answer]:
    """Follow every link of the site once, from the start page and from `more`; addresses that differ in a query are two."""
    client, known = browser_of(user), ["/", *more]
    client.raise_request_exception = False
    for place, address in enumerate(known):
        assert place < MOST, known[-5:]
        response = client.get(address)
        body = b"".join(response) if response.streaming else response.content
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        yield Answer(address, response.status_code, kind, dict(response.headers), body)
        links = Links()
        if kind == "text/html":
            links.feed(body.decode())
        known += dict.fromkeys(where for link in links.found if (where := here(address, link)) and where not in known)


def here(address: str, link: str) -> str:
    """The address on this site that a link leads to, without its fragment; empty where it leads elsewhere."""
    whole = urlsplit(urljoin(f"http://testserver{address}", link))
    if whole.netloc != "testserver" or whole.scheme != "http" or whole.path.startswith(("/static/", "/api/")):
        return ""
    return f"{whole.path}?{whole.query}" if whole.query else whole.path
