"""Who may see, who may write: projects are walls, people have a role in each, agents a token."""

from django.contrib.auth.models import AbstractUser
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from database.columns import ChoiceField, ExactCharField, ExactTextField, UtcNow


class Theme(models.TextChoices):
    SYSTEM = "system", _("as the system has it")
    LIGHT = "light", _("light")
    DARK = "dark", _("dark")


class Density(models.TextChoices):
    COMFORTABLE = "comfortable", _("comfortable")
    COMPACT = "compact", _("compact")


class User(AbstractUser):
    """A person. A superuser operates the desk and is an admin of every project."""

    time_zone = models.CharField(_("time zone"), max_length=64, blank=True, default="")
    theme = ChoiceField(_("theme"), choices=Theme.choices, default=Theme.SYSTEM)
    density = ChoiceField(_("density"), choices=Density.choices, default=Density.COMFORTABLE)
    daily_digest = models.BooleanField(_("daily digest by mail"), default=False, db_default=False)
    digest_sent_at = models.DateTimeField(null=True, editable=False)
    first_run_hidden_at = models.DateTimeField(null=True, editable=False)
    # Sessions from before are worth nothing, also once the account is active again.
    signed_out_at = models.DateTimeField(null=True, editable=False)

    class Meta(AbstractUser.Meta):
        db_table = "users"
        constraints = [
            models.CheckConstraint(condition=Q(theme__in=Theme.values), name="users_theme"),
            models.CheckConstraint(condition=Q(density__in=Density.values), name="users_density"),
        ]

    def _get_session_auth_hash(self, secret: str | bytes | None = None) -> str:
        signed_in = super()._get_session_auth_hash(secret)  # type: ignore[misc]
        if self.signed_out_at is None:
            return str(signed_in)
        return salted_hmac(
            "projects.signed_out_at", f"{signed_in}{self.signed_out_at.isoformat()}", secret=secret
        ).hexdigest()


class Project(models.Model):
    """The scope of everything. `id` is an INT that plain-SQL writers name as project_id."""

    id = models.AutoField(primary_key=True)
    name = models.CharField(_("name"), max_length=255)
    slug = ExactCharField(_("slug"), max_length=100, unique=True)
    created_at = models.DateTimeField(db_default=UtcNow(), editable=False)

    class Meta:
        db_table = "projects"
        ordering = ["name", "id"]
        verbose_name = _("project")
        verbose_name_plural = _("projects")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("desk:overview", args=[self.slug])


# How many votes a pattern's starting point may count for.
WEIGHT_LEAST, WEIGHT_MOST = 0.1, 1000


class ProjectPolicy(models.Model):
    """What happens to agents' writes at the door, and what is told back. A project without a row has the defaults."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="policy")
    quarantine_findings = models.BooleanField(_("Quarantine what is flagged"), default=True, db_default=True)
    auto_approve_trust = models.FloatField(
        _("Approve writes of agents trusted at least"),
        null=True,
        blank=True,
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    reviewed_only_recall = models.BooleanField(
        _("Recall only what a person approved"), default=False, db_default=False
    )
    stale_after_days = models.IntegerField(
        _("Stale after days"),
        null=True,
        blank=True,
        default=180,
        db_default=180,
        validators=[MinValueValidator(1), MaxValueValidator(3650)],
    )
    prior_weight = models.FloatField(
        _("Weight of a pattern's prior in votes"),
        default=4.0,
        db_default=4.0,
        validators=[MinValueValidator(WEIGHT_LEAST), MaxValueValidator(WEIGHT_MOST)],
    )
    confidence_half_life_days = models.IntegerField(
        _("Halve the evidence of an unused pattern after days"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(3650)],
    )
    keep_reads_days = models.IntegerField(
        _("Keep who read what for days"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(3650)],
    )
    duplicate_cosine = models.FloatField(
        _("Likely duplicates from a cosine of"),
        default=0.85,
        db_default=0.85,
        validators=[MinValueValidator(0.5), MaxValueValidator(1)],
    )

    class Meta:
        db_table = "project_policies"
        ordering = ["project_id"]
        verbose_name = _("policy")
        verbose_name_plural = _("policies")
        constraints = [
            models.CheckConstraint(
                condition=Q(auto_approve_trust=None)
                | Q(auto_approve_trust__gte=0, auto_approve_trust__lte=1),
                name="project_policies_trust",
            ),
            models.CheckConstraint(
                condition=Q(stale_after_days=None) | Q(stale_after_days__gte=1, stale_after_days__lte=3650),
                name="project_policies_stale",
            ),
            models.CheckConstraint(
                condition=Q(duplicate_cosine__gte=0.5, duplicate_cosine__lte=1),
                name="project_policies_cosine",
            ),
            models.CheckConstraint(
                condition=Q(prior_weight__gt=0, prior_weight__lte=1000), name="project_policies_prior_weight"
            ),
        ]

    def __str__(self) -> str:
        return f"policy of {self.project_id}"


class ProjectAlias(models.Model):
    """Another slug by which agents and addresses may name a project. A slug is one project's, whether name or alias."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="aliases")
    slug = ExactCharField(_("alias"), max_length=100, unique=True)
    created_at = models.DateTimeField(db_default=UtcNow(), editable=False)

    class Meta:
        db_table = "project_aliases"
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.slug


class Role(models.TextChoices):
    VIEWER = "viewer", _("viewer")
    CURATOR = "curator", _("curator")
    ADMIN = "admin", _("admin")


class Membership(models.Model):
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    role = ChoiceField(_("role"), choices=Role.choices, default=Role.VIEWER)
    created_at = models.DateTimeField(db_default=UtcNow(), editable=False)

    class Meta:
        db_table = "memberships"
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["user", "project"], name="memberships_user_project"),
            models.CheckConstraint(condition=Q(role__in=Role.values), name="memberships_role"),
        ]

    def __str__(self) -> str:
        return f"{self.user} · {self.role}"


class Invitation(models.Model):
    """A link by which one person makes an account of their own, with a role in a project. Only its digest is kept."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = ChoiceField(_("role"), choices=Role.choices, default=Role.VIEWER)
    note = models.CharField(_("for whom"), max_length=255, blank=True, default="")
    digest = ExactCharField(max_length=64, unique=True, editable=False)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(db_default=UtcNow(), editable=False)
    expires_at = models.DateTimeField(_("expires"))
    accepted_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    accepted_at = models.DateTimeField(null=True)
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "invitations"
        ordering = ["-id"]
        constraints = [models.CheckConstraint(condition=Q(role__in=Role.values), name="invitations_role")]

    def __str__(self) -> str:
        return f"{self.role} in {self.project_id}"


class Scope(models.TextChoices):
    READ = "read", _("read")
    WRITE = "write", _("write")
    REVIEW = "review", _("review")


class AgentToken(models.Model):
    """An agent's way in. Only the HMAC digest is kept; the text is shown once. `scopes` is one of SCOPE_SETS."""

    name = models.CharField(_("name"), max_length=100)
    agent_name = ExactTextField(_("agent"), max_length=255)
    digest = ExactCharField(max_length=64, unique=True, editable=False)
    hint = ExactCharField(_("ends in"), max_length=8, editable=False)
    projects = models.ManyToManyField(Project, related_name="tokens", db_table="agent_token_projects")
    scopes = models.JSONField(_("scopes"), default=list)
    trust = models.FloatField(_("trust"), default=0.5, db_default=0.5)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(db_default=UtcNow(), editable=False)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, editable=False)
    revoked_at = models.DateTimeField(_("revoked"), null=True, editable=False)

    class Meta:
        db_table = "agent_tokens"
        ordering = ["-id"]
        verbose_name = _("agent token")
        verbose_name_plural = _("agent tokens")
        constraints = [
            models.CheckConstraint(condition=Q(trust__gte=0, trust__lte=1), name="agent_tokens_trust")
        ]

    def __str__(self) -> str:
        return f"{self.name} …{self.hint}"

    @cached_property
    def reach(self) -> list[Project]:
        """The projects it is for."""
        return list(self.projects.all())

    @property
    def is_live(self) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > timezone.now())


class AccessVerb(models.TextChoices):
    CREATE_PROJECT = "create_project", _("created the project")
    RENAME_PROJECT = "rename_project", _("renamed the project")
    ADD_MEMBER = "add_member", _("added")
    CHANGE_ROLE = "change_role", _("changed the role of")
    REMOVE_MEMBER = "remove_member", _("removed")
    CREATE_TOKEN = "create_token", _("made the token")
    REVOKE_TOKEN = "revoke_token", _("revoked the token")
    CREATE_ACCOUNT = "create_account", _("made the account")
    CHANGE_POLICY = "change_policy", _("changed the policy")
    INVITE = "invite", _("invited")
    WITHDRAW_INVITATION = "withdraw_invitation", _("withdrew the invitation of")
    ACCEPT_INVITATION = "accept_invitation", _("accepted an invitation")
    RESET_PASSWORD = "reset_password", _("reset the password of")
    DEACTIVATE = "deactivate", _("deactivated")
    REACTIVATE = "reactivate", _("reactivated")
    ADD_ALIAS = "add_alias", _("added the alias")
    REMOVE_ALIAS = "remove_alias", _("removed the alias")


class AccessEvent(models.Model):
    """One change of who may see or write: who did it, to whom, what was before and after. Undeletable."""

    project = models.ForeignKey(Project, null=True, on_delete=models.PROTECT, related_name="access_events")
    verb = ChoiceField(choices=AccessVerb.choices)
    subject = ExactTextField(max_length=255)
    detail = models.JSONField(default=dict)
    user = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    actor_name = ExactTextField(max_length=255)
    channel = ExactCharField(max_length=24)
    request_id = ExactCharField(max_length=64, blank=True, default="")
    created_at = models.DateTimeField(db_default=UtcNow(), editable=False)

    class Meta:
        db_table = "access_events"
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=Q(verb__in=AccessVerb.values), name="access_events_verb")
        ]
        indexes = [models.Index(fields=["project", "id"], name="access_events_project")]

    def __str__(self) -> str:
        return f"{self.actor_name} {self.verb} {self.subject}"


class CallCount(models.Model):
    """The calls of one token or address in one minute, of all processes together (projects.call_counts)."""

    who = ExactCharField(max_length=64, unique=True)
    minute_number = models.BigIntegerField(db_index=True)
    calls = models.IntegerField()

    class Meta:
        db_table = "call_counts"
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.who}: {self.calls}"
