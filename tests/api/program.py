"""A program on the other side of HTTP: it knows the site's address, a password or a key, and nothing of Django."""

import json
from http.cookiejar import CookieJar
from typing import Any
from urllib.error import HTTPError
from urllib.request import HTTPCookieProcessor, Request, build_opener

from tests.worker.scene import until

BOUNDARY = "a-line-that-stands-in-no-file"


class Program:
    """Calls below /api/v1/; a session's cookies are kept, a key goes into the header."""

    def __init__(self, site: str, key: str = "") -> None:
        self.site, self.key, self.csrf = site, key, ""
        self.opener = build_opener(HTTPCookieProcessor(CookieJar()))

    def call(
        self, method: str, path: str, body: object = None, *, kind: str = "application/json", once: str = ""
    ) -> tuple[int, Any]:
        """One call; its status, and its body decoded where it is JSON. `once`: the Idempotency-Key."""
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": kind, "Idempotency-Key": once, "X-CSRFToken": self.csrf}
        headers |= {"Authorization": f"Bearer {self.key}"} if self.key else {}
        request = Request(f"{self.site}/api/v1/{path}", data, headers, method=method)
        try:
            answer = self.opener.open(request, timeout=60)
        except HTTPError as error:
            answer = error
        with answer:
            content = answer.read()
            told = json.loads(content) if answer.headers.get_content_type() == "application/json" and content else content
            return int(answer.status or 0), told

    def get(self, path: str) -> Any:
        """What a GET gives, which must succeed."""
        status, told = self.call("GET", path)
        assert status == 200, told
        return told

    def post(self, path: str, body: object, *, once: str = "") -> Any:
        """What a POST gives, which must succeed."""
        status, told = self.call("POST", path, body, once=once)
        assert status in (200, 201, 202), told
        return told

    def refused(self, path: str, body: object) -> tuple[int, str]:
        """The status and code of a POST that must not succeed."""
        status, told = self.call("POST", path, body)
        return status, told["code"]

    def sign_in(self, username: str, password: str) -> None:
        """Begin a session."""
        self.csrf = self.post("session/", {"username": username, "password": password})["csrf"]

    def with_key(self) -> "Program":
        """Another program, of the same person, that has a key of its own and no session."""
        return Program(self.site, self.post("tokens/", {"name": "journey", "scope": "ask", "days": 1})["secret"])

    def send(self, path: str, name: str, content: str) -> Any:
        """Send a file."""
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        body = f"{head}{content}\r\n--{BOUNDARY}--\r\n".encode()
        status, told = self.call("POST", path, body, kind=f"multipart/form-data; boundary={BOUNDARY}")
        assert status == 202, told
        return told

    def once_done(self, path: str, *busy: str) -> Any:
        """What a GET gives once its `state` is none of `busy` any more."""
        until(lambda: self.get(path)["state"] not in busy)
        return self.get(path)
