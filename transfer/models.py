"""What came here from another database or desk."""

from django.db import models

from database.columns import ExactCharField, NodeIdField, UtcNow


class Arrival(models.Model):
    """A record there, and what it is here: so that no second run brings it again, and a stopped one goes on.

    `origin` is a digest of where it came from; `batch` the file that brought it, `digest` how it was there.
    """

    origin = ExactCharField(max_length=64)
    kind = ExactCharField(max_length=24)
    source_key = ExactCharField(max_length=64)
    node_id = NodeIdField()
    batch = ExactCharField(max_length=64, blank=True, default="")
    digest = ExactCharField(max_length=64, blank=True, default="")
    created_at = models.DateTimeField(db_default=UtcNow())

    class Meta:
        db_table = "arrivals"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["origin", "kind", "source_key"], name="arrivals_origin_kind_source"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.source_key} is {self.node_id}"


class Place(models.Model):
    """How far a run has come, kept in the transaction of what it wrote last; and the name of this desk."""

    name = ExactCharField(max_length=100, unique=True)
    reached = ExactCharField(max_length=64)

    class Meta:
        db_table = "arrival_places"
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name}: {self.reached}"
