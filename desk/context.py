from django.http import HttpRequest


def desk(request: HttpRequest) -> dict[str, object]:
    return {}
