"""Where a request comes from, for counting failed sign-ins."""

from ipaddress import IPv6Address, ip_address, ip_network

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The client's address; behind our own proxy the entry which that proxy appended, never one that the client wrote."""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "") if settings.BEHIND_PROXY else ""
    return forwarded.rpartition(",")[2].strip() or request.META.get("REMOTE_ADDR", "")


def client_network(request: HttpRequest) -> str:
    """What counts as one place: an IPv4 address, or the /64 of an IPv6 address, of which one person has all."""
    address = client_address(request)
    try:
        known = ip_address(address)
    except ValueError:
        return address
    return str(ip_network((known, 64), strict=False)) if isinstance(known, IPv6Address) and not known.ipv4_mapped else address
