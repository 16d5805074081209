"""Answers that every page gives alike."""

from django.http import HttpResponseRedirect


class SeeOther(HttpResponseRedirect):
    """After a POST: the page to GET now."""

    status_code = 303
