"""Embeddings, the similarities kept from them, and the words of full-text search."""

from django.db import models

from database.columns import ExactCharField, ExactTextField, NodeIdField, UtcNow, VectorField


class Embedding(models.Model):
    """One vector of a record. Part 0 is the record vector (title, then summary); 1, 2, … are passages of its text.

    `start` and `end` are character offsets into the kind's body text. Only rows of the configured `model` are compared.
    """

    node_id = NodeIdField()
    kind = ExactCharField(max_length=24)
    project_id = models.IntegerField(null=True)
    part = models.IntegerField()
    start = models.IntegerField(default=0)
    end = models.IntegerField(default=0)
    model = ExactTextField(max_length=100)
    content_hash = ExactCharField(max_length=64)
    vector = VectorField()
    created_at = models.DateTimeField(db_default=UtcNow())

    class Meta:
        db_table = "embeddings"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["node_id", "model", "part"], name="embeddings_node_model_part")
        ]
        indexes = [
            models.Index(fields=["project_id", "model", "part", "id"], name="embeddings_project_model")
        ]

    def __str__(self) -> str:
        return f"{self.node_id}/{self.part}"


class Similarity(models.Model):
    """`target` is among the most similar records of `source`, in its project. Kept in both directions, plain cosine."""

    project_id = models.IntegerField(null=True)
    source = NodeIdField()
    target = NodeIdField()
    score = models.FloatField()

    class Meta:
        db_table = "similarities"
        ordering = ["source", "-score", "target"]
        constraints = [
            models.UniqueConstraint(fields=["source", "target"], name="similarities_source_target")
        ]
        indexes = [
            # Best first and whole: the best of a hub of thousands are read off the index, without its rows.
            models.Index(fields=["source", "-score", "target"], name="similarities_source_score"),
            models.Index(fields=["target", "-score", "source"], name="similarities_target_score"),
        ]

    def __str__(self) -> str:
        return f"{self.source} ~ {self.target} {self.score:.2f}"


class SearchText(models.Model):
    """The words of one record as `recall.tokenise` cuts them; each database's own full-text index lies on `words`."""

    node_id = NodeIdField(unique=True)
    kind = ExactCharField(max_length=24)
    project_id = models.IntegerField(null=True)
    content_hash = ExactCharField(max_length=64)
    words = models.TextField()

    class Meta:
        db_table = "search_texts"
        ordering = ["id"]

    def __str__(self) -> str:
        return self.node_id
