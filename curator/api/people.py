"""The people of the site, for its curators, and one's own account and notices, over JSON."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth import logout, update_session_auth_hash
from drf_spectacular.utils import extend_schema, extend_schema_field, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts import access, profile, services
from accounts.models import Role
from curator.api.base import Api, body_of, by_session, caller, mark_of, only, page_of, paged, param, text_of
from curator.mechanism.errors import BadInput
from curator.selectors import notices as reads
from curator.selectors.notices import NoticeLine
from curator.selectors.people import everybody
from curator.services import notices


class PersonShape(serializers.Serializer[Any]):
    """A person of the site."""

    username = serializers.CharField()
    full_name = serializers.CharField()
    email = serializers.CharField()
    roles = serializers.ListField(child=serializers.CharField())
    active = serializers.BooleanField()
    contracts = serializers.IntegerField()
    last_login = serializers.DateTimeField(allow_null=True)


class LeadsShape(serializers.Serializer[Any]):
    """Where a notice leads."""

    to = serializers.CharField(help_text="query, or a part of a contract: budget, requests, raises, people, workspace, …")
    id = serializers.CharField(help_text="of the question or the contract")


class NoticeShape(serializers.Serializer[Any]):
    """Something that concerns me."""

    id = serializers.IntegerField()
    kind = serializers.CharField()
    words = serializers.CharField()
    about = serializers.CharField(help_text="the label of a question, or empty")
    contract = serializers.CharField()
    leads = serializers.SerializerMethodField(help_text="what it is about; null where I may not open it (any more)")
    created_at = serializers.DateTimeField()
    seen_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(LeadsShape(allow_null=True))
    def get_leads(self, line: NoticeLine) -> dict[str, str] | None:
        """Which part of what: a question, or a part of a contract."""
        return None if line.leads is None else {"to": line.leads[0], "id": str(line.leads[1])}


ROLES = serializers.ListField(child=serializers.CharField())
CHANGED = inline_serializer(
    "PersonChanged",
    {"username": serializers.CharField(), "roles": ROLES, "active": serializers.BooleanField()},
)
ACCOUNT = inline_serializer(
    "Account",
    {
        "username": serializers.CharField(),
        "email": serializers.CharField(),
        "roles": ROLES,
        "mail_notices": serializers.BooleanField(),
        "unseen": serializers.IntegerField(),
    },
)


CHANGES = inline_serializer(
    "AccountBody",
    {
        "mail_notices": serializers.BooleanField(required=False),
        "email": serializers.CharField(required=False, help_text="needs password"),
        "password": serializers.CharField(required=False),
    },
)
PASSWORDS = inline_serializer("PasswordBody", {name: serializers.CharField() for name in ("password", "new_password")})


class People(Api):
    """`people/`"""

    @extend_schema(responses=page_of(PersonShape))
    def get(self, request: Request) -> Response:
        """Everybody, in the order of their names; `?after=` takes the mark in `next`, `?search=` part of a name (curators)."""
        access.require_site_role(caller(request), Role.CURATOR)
        return Response(paged(everybody(search=param(request, "search"), after=param(request, "after")), PersonShape))

    @extend_schema(
        request=inline_serializer(
            "NewPerson",
            {"username": serializers.CharField(), "roles": ROLES, "email": serializers.CharField(required=False)},
        ),
        responses={
            201: inline_serializer(
                "PersonMade",
                {
                    "username": serializers.CharField(),
                    "roles": ROLES,
                    "password": serializers.CharField(help_text="shown this once"),
                },
            )
        },
    )
    def post(self, request: Request) -> Response:
        """Make an account; the password is drawn and shown once (curators, by session)."""
        by = access.require_site_role(caller(request), Role.CURATOR)
        by_session(request, "make an account")
        body = only(body_of(request), "username", "roles", "email")
        made = services.create_user(
            username=text_of(body, "username"), roles=_roles(body), email=text_of(body, "email", ""), by=by
        )
        return Response({"username": made.user.username, "roles": made.user.roles, "password": made.password}, status=201)


class Roles(Api):
    """`people/{username}/roles/`"""

    @extend_schema(request=inline_serializer("PersonRoles", {"roles": ROLES}), responses=CHANGED)
    def post(self, request: Request, username: str) -> Response:
        """Give somebody else exactly these roles on the site (curators, by session)."""
        by = caller(request)
        user = access.user_for(by, username)
        by_session(request, "change somebody's roles")
        changed = services.set_roles(by=by, user=user, roles=_roles(only(body_of(request), "roles")))
        return Response({"username": changed.username, "roles": changed.roles, "active": changed.is_active})


class Deactivate(Api):
    """`people/{username}/deactivate/`"""

    @extend_schema(request=inline_serializer("PersonOff", {"reason": serializers.CharField(required=False)}), responses=CHANGED)
    def post(self, request: Request, username: str) -> Response:
        """Switch somebody else's account off; what they did and spent stays theirs (curators)."""
        by = caller(request)
        user = access.user_for(by, username)
        changed = services.deactivate(by=by, user=user, reason=text_of(only(body_of(request), "reason"), "reason", ""))
        return Response({"username": changed.username, "roles": changed.roles, "active": changed.is_active})


class Reactivate(Api):
    """`people/{username}/reactivate/`"""

    @extend_schema(request=None, responses=CHANGED)
    def post(self, request: Request, username: str) -> Response:
        """Switch somebody else's account on again, with the password, e-mail address and roles it had (curators, by session)."""
        by = caller(request)
        user = access.user_for(by, username)
        by_session(request, "switch an account on")
        only(body_of(request))
        changed = services.reactivate(by=by, user=user)
        return Response({"username": changed.username, "roles": changed.roles, "active": changed.is_active})


class Account(Api):
    """`account/`"""

    @extend_schema(responses=ACCOUNT)
    def get(self, request: Request) -> Response:
        """Who I am, and how many notices I have not seen (up to 100)."""
        user = caller(request)
        told = {"username": user.username, "email": user.email, "roles": user.roles, "mail_notices": user.mail_notices}
        return Response({**told, "unseen": reads.unseen(user)})

    @extend_schema(request=CHANGES, responses=ACCOUNT)
    def patch(self, request: Request) -> Response:
        """Whether notices come by mail too; or, in a session and with the password, another mail address ("" for none)."""
        body, user = only(body_of(request), "mail_notices", "email", "password"), caller(request)
        notices = _truth(body) if "mail_notices" in body or "email" not in body else None
        if "email" in body:
            by_session(request, "change your mail address")
            email, password = text_of(body, "email").strip(), text_of(body, "password")
            profile.set_email(user=user, email=email, password=password, notices=notices)
        elif notices is not None:
            profile.set_mail(user=user, notices=notices)
        return self.get(request)


class Password(Api):
    """`account/password/`"""

    @extend_schema(request=PASSWORDS, responses={204: None})
    def post(self, request: Request) -> Response:
        """Another password, for whoever knows the one there is (by session); this session goes on, others end."""
        by_session(request, "change your password")
        body = only(body_of(request), "password", "new_password")
        profile.set_password(user=caller(request), password=text_of(body, "password"), new=text_of(body, "new_password"))
        update_session_auth_hash(request._request, caller(request))
        return Response(status=204)


class SignOut(Api):
    """`session/end/`"""

    @extend_schema(request=None, responses={204: None})
    def post(self, request: Request) -> Response:
        """End this session (a key is ended at `tokens/{id}/revoke/`)."""
        by_session(request, "sign out")
        logout(request._request)
        return Response(status=204)


class Notices(Api):
    """`notices/`"""

    @extend_schema(responses=page_of(NoticeShape))
    def get(self, request: Request) -> Response:
        """My notices, newest first; `?after=` takes the mark in `next`."""
        return Response(paged(reads.notices(caller(request), before=mark_of(request)), NoticeShape))


class NoticesSeen(Api):
    """`notices/seen/`"""

    @extend_schema(request=None, responses=inline_serializer("NoticesUnseen", {"unseen": serializers.IntegerField()}))
    def post(self, request: Request) -> Response:
        """I have seen them all."""
        notices.seen(caller(request))
        return Response({"unseen": 0})


def _truth(body: Mapping[str, Any]) -> bool:
    wanted = body.get("mail_notices")
    if not isinstance(wanted, bool):
        raise BadInput("bad_flag", "mail_notices: expected true or false", field="mail_notices")
    return wanted


def _roles(body: Mapping[str, Any]) -> list[str]:
    roles = body.get("roles")
    if not isinstance(roles, list) or not all(isinstance(role, str) for role in roles):
        raise BadInput("unknown_role", f"roles: expected a list of some of {', '.join(Role.values)}", field="roles")
    return roles
