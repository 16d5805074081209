"""The words by which post-mortems name their parts, how bad it was, and what kind of trouble it was."""

from __future__ import annotations

import re
from functools import lru_cache

from transfer.adr.inline import plain

# Of a label the first that fits counts: "Time to resolve" is a fact, not the resolution.
_ROLES = (
    ("severity", r"^(incident )?(severity|priority|criticality|sev)( level)?$|^严重(程度|级别)$"),
    ("category", r"^(category|categories|primary failure class|failure class(es)?|incident category|分类)$"),
    ("meta", r"^(key (events|times|dates)|dates?|incident date|status|state|authors?|owners?|reporter|participants|time|time to .*|"
             r"duration|version|links?|references|sources|(start|end)(ed)?( time| date| at)?|.* (at|time)|日期|状态)$"),
    ("prevention", r"prevent|action items?|review actions?|actions? (following|after|from)|follow ?ups?|future actions?|"
                   r"lessons|corrective|next steps|improvements?|recommendations?|learnings|learned|avoid|what (went|worked|didn)|"
                   r"got lucky|^actions?( taken)?$|改进|预防|教训|后续"),
    ("cause", r"causes?\b|contributing|why .*happen|(five|5) whys|analysis|diagnosis|^fault$|原因"),
    ("resolution", r"resolution|resolved|recover|mitigat|^fix(es|ed)?$|response|repair|what we did|workaround|contain|"
                   r"remediation|解决|恢复|处理"),
    ("timeline", r"time ?line|chronology|sequence of events|^events$|时间线|经过"),
    ("signal", r"identified|detect|trigger|alert|symptoms?|noticed|discovered|告警|发现"),
    ("impact", r"impact|affected|blast radius|harm|consequences|damage|scope|影响"),
    ("summary", r"summary|overview|abstract|tl ?dr|synopsis|摘要|概述"),
    ("context", r"context|background|lead ?up|what happened|description|details|problem|背景"),
)  # fmt: skip
_COMPILED = [(role, re.compile(pattern)) for role, pattern in _ROLES]
LONGEST_LABEL = 60
# A text that tells of two of these tells of an incident.
TELLING = frozenset({"signal", "impact", "cause", "resolution", "timeline", "prevention"})
NARRATIVE = ("summary", "context", "timeline")

# The values of a pitfall's severity: read without a database.
_SEVERITIES = (
    ("critical", r"critical|catastrophic|blocker|sev[ -]?[01]|p[01]|s[01]|emergency|严重|致命"),
    ("high", r"high|major|severe|serious|sev[ -]?2|p2|s2|高"),
    ("medium", r"medium|moderate|sev[ -]?3|p3|s3|normal|中"),
    ("low", r"low|minor|trivial|informational|info|sev[ -]?[45]|p[45]|s[45]|低"),
)
_CATEGORIES = (
    ("dns", r"dns|route ?53|nameservers?|resolver"),
    ("certificate", r"certificates?|certs?|tls|ssl|cert-manager|altnames?"),
    (
        "security",
        r"credentials?|secrets?|leak(ed|age)?|exposed|injection|vulnerabilit\w+|compromised?|malicious",
    ),
    (
        "network",
        r"ingress\w*|load balancers?|route tables?|subnets?|networks?|vpn|firewall|waf|modsec\w*|bgp|latency",
    ),
    ("storage", r"disks?|disk ?space|volumes?|storage|filesystems?|inodes?"),
    ("database", r"databases?|rds|postgres\w*|mysql|mariadb|mongo\w*|replicas?|replication|deadlocks?"),
    ("observability", r"prometheus|elasticsearch|opensearch|logging|logs|metrics|grafana|monitoring"),
    ("supplier", r"docker ?hub|third[- ]party|vendor|upstream|provider outage|registry"),
    (
        "configuration",
        r"terraform|misconfigur\w+|configurations?|config|environment variables?|feature flags?",
    ),
    ("deployment", r"upgrad\w+|deploy\w*|rollouts?|rollbacks?|releases?|migrations?"),
    (
        "capacity",
        r"memory|oom\w*|cpu|scal(e|ing)|quotas?|capacity|throttl\w+|overload\w*|connection pools?|exhaust(ed|ion)",
    ),
)
_CATEGORY_PATTERNS = [(name, re.compile(rf"(?<!\w)(?:{pattern})(?!\w)")) for name, pattern in _CATEGORIES]
NO_CATEGORY, NO_SEVERITY = "incident", "medium"
TITLE_WEIGHT = 4


@lru_cache(maxsize=4096)
def role_of(label: str) -> str | None:
    """What a heading, a label or a key opens; None where the words say nothing of it."""
    words = normal(label)
    if not words or len(words) > LONGEST_LABEL:
        return None
    found = {role for part in label.split("/") if (role := _role(normal(part)))} if "/" in label else set()
    return "context" if len(found) > 1 else _role(words)


def _role(words: str) -> str | None:
    return next((role for role, pattern in _COMPILED if pattern.search(words)), None)


def normal(label: str) -> str:
    """Lower case, without markup, numbering and punctuation; `root_cause` is "root cause"."""
    words = re.sub(r"[_\-–—]+", " ", plain(label).casefold().replace("_", " ").replace("&", " and "))
    words = re.sub(r"^[\s\d.)(:]+", "", words)
    return " ".join(re.sub(r"[^\w\s]", " ", words).split())


def severity_of(written: str) -> str | None:
    """One of ours for the words of the document; None where they name none."""
    words = plain(written).casefold().strip()
    found = [
        (match.start(), level)
        for level, pattern in _SEVERITIES
        if (match := re.search(rf"(?<![\w.])(?:{pattern})(?![\w.])", words))
    ]
    return min(found)[1] if found else None


def category_in(title: str, text: str) -> str:
    """The kind of trouble by the words used most, the title's counted more."""
    weights = {
        name: TITLE_WEIGHT * len(pattern.findall(title.casefold())) + len(pattern.findall(text.casefold()))
        for name, pattern in _CATEGORY_PATTERNS
    }
    best = max(weights, key=lambda name: weights[name])
    return best if weights[best] > 1 else NO_CATEGORY
