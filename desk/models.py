"""Tables of the desk itself: what it keeps beside the memories, for a while."""

from desk.home.models import Visit as Visit
from desk.incident.models import Alert as Alert
