from django import template
from django.utils.safestring import SafeString

from records.markdown import render

register = template.Library()


@register.filter
def markdown(text: str | None) -> SafeString | str:
    """An agent's Markdown as safe HTML."""
    return render(text) if text else ""
