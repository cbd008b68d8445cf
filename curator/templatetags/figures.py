"""Template tags for figures. They lay out what `curator.selectors.formatting` says and decide nothing."""

from datetime import datetime
from decimal import Decimal

from django import template
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe

from curator.mechanism import rho
from curator.selectors import event_words, formatting

register = template.Library()


@register.simple_tag
def amount(units: int | None, *, price: bool = False, delta: Decimal | None = None, unit: bool = True) -> SafeString:
    """An amount of rho, three digits with the whole value on hover; with `delta`, epsilon beside it."""
    if units is None:
        return format_html('<span class="muted">{}</span>', "no limit")
    full, shown = formatting.whole(units), formatting.amount(units, price=price)
    text = format_html('<data class="num nowrap" value="{}" title="{} ρ">{}{}</data>', full, full, shown, " ρ" if unit else "")
    return text if delta is None else format_html('{} <span class="muted nowrap">({})</span>', text, epsilon(units, delta))


@register.filter(is_safe=True)
def amounts(text: str) -> SafeString:
    """A sentence of ours in which each amount of rho looks like all others."""
    return mark_safe(formatting.shortened(conditional_escape(text), _shown))  # noqa: S308  # escaped first; the rest is `amount`


def _shown(units: int, price: bool) -> str:
    return amount(units, price=price)


@register.simple_tag
def typed_total(text: str, delta: Decimal) -> SafeString:
    """A total as somebody typed it, like all other totals."""
    return amount(rho.parse(text, field="rho"), delta=delta)


@register.simple_tag
def epsilon(units: int, delta: Decimal) -> SafeString:
    """The same amount as epsilon at delta, three digits rounded up with the whole figure on hover."""
    full = formatting.whole_epsilon(units, delta)
    shown, small = formatting.epsilon(units, delta), formatting.small(delta)
    return format_html('<data class="epsilon nowrap" value="{}" title="ε {}">ε {} at δ {}</data>', full, full, shown, small)


@register.simple_tag
def when(at: datetime | None) -> SafeString | str:
    """A time of the record, in UTC."""
    if at is None:
        return ""
    return format_html(
        '<time class="nowrap" datetime="{}" title="{} UTC">{}</time>', at.isoformat(), at.isoformat(" "), formatting.moment(at)
    )


@register.filter
def number(value: Decimal | str) -> str:
    """A setting or weight as people type it."""
    return formatting.number(value)


@register.filter
def count(value: int | None) -> str:
    """A whole number with thousands apart."""
    return "" if value is None else formatting.count(value)


@register.filter
def signed(value: int | None) -> str:
    """A difference with its sign."""
    return "" if value is None else formatting.signed(value)


@register.filter
def percent(share: Decimal | str) -> str:
    """A share in percent."""
    return formatting.percent(share)


@register.filter
def event_title(kind: str) -> str:
    """What an event is called for people."""
    return event_words.title(kind)


@register.inclusion_tag("part/versus.html")
def versus(
    residual: int, partition: int, *, price: bool = False, residual_kind: str = "met", partition_kind: str = "met"
) -> dict[str, object]:
    """Two charges beside each other, as bars of the same scale in the colours of their allocators; `price`: not yet paid.

    Who declines is no cheaper: a word stands in place of a bar.
    """
    widest = max(residual, partition, 1)
    each = (
        ("residual", "Residual", residual, residual_kind),
        ("budget_partition", "Budget partition", partition, partition_kind),
    )
    bars = [
        (name, title, None if kind.startswith("decline") else units, round(1000 * units / widest))
        for name, title, units, kind in each
    ]
    return {"price": price, "bars": bars}


@register.simple_tag
def whole(units: int) -> SafeString:
    """Every digit of an amount of rho."""
    return format_html('<data class="whole" value="{}">{}</data>', formatting.whole(units), formatting.whole(units))


@register.simple_tag
def seconds(length: int) -> str:
    """A length of time in its largest unit."""
    return formatting.seconds(length)
