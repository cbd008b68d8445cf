"""Rendering a page: its own context, the links on top, and nothing else."""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from accounts.models import User
from curator.mechanism.errors import Refused
from curator.models import Contract
from curator.web.navigation import site_links, strip


def reader(request: HttpRequest) -> User:
    """Who is signed in; every page but signing in has somebody."""
    user: User | AnonymousUser = request.user
    assert isinstance(user, User)
    return user


def page(request: HttpRequest, template: str, *, here: str = "", status: int = 200, **context: Any) -> HttpResponse:
    """A page of the site."""
    return render(request, template, {**context, "site_links": site_links(request, here)}, status=status)


def contract_page(
    request: HttpRequest, template: str, contract: Contract, *, here: str = "", status: int = 200, **context: Any
) -> HttpResponse:
    """A page of a contract, with the contract's own links."""
    return page(request, template, status=status, contract=contract, strip=strip(request, contract, here), **context)


def add_refusal(form: Any, refused: Refused) -> None:
    """Put a service's refusal where the form has the field it speaks of, or above the form."""
    field = refused.field if refused.field in form.fields else None
    detail = refused.detail.removeprefix(f"{refused.field}: ")
    form.add_error(field, detail[:1].upper() + detail[1:])
