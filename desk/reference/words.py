"""The words that the reference load's texts are made of, and the sentences they stand in."""

COMPONENTS = (
    """
checkout gateway|order service|ledger|search index|notification worker|session store|image pipeline|billing job
rate limiter|feature flags|audit log|catalogue|recommendation service|customer profile|inventory sync|mail relay
report builder|identity provider|webhook dispatcher|price engine|fraud scoring|delivery planner|import queue
mobile API|admin console|tenant router|config service|document store|media transcoder|event bus|metrics pipeline
payment reconciler|ticket desk|address lookup|tax calculator|returns portal|warehouse feed|partner API
backup runner|certificate renewer
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

TECHNOLOGIES = (
    """
PostgreSQL|MySQL|Redis|Kafka|RabbitMQ|gRPC|GraphQL|Kubernetes|Terraform|Django|FastAPI|Go|Rust|TypeScript|nginx
Envoy|S3|SQLite|Elasticsearch|Neo4j|ClickHouse|Prometheus|OpenTelemetry|Celery|Airflow|DuckDB|Parquet|protobuf
WebSockets|OAuth|Vault|systemd|Ansible|HAProxy|Debian|Lambda|DynamoDB|Cassandra|NATS|Memcached
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

CONCERNS = (
    """
time-outs|retries|idempotency|schema changes|connection pooling|cache invalidation|back-pressure|pagination
access control|secret rotation|cold starts|duplicate events|clock skew|partial failure|slow queries|lock contention
disk usage|log volume|memory growth|rollbacks|blue-green switches|data retention|time zones|character sets
batch size|dead letters|health checks|load shedding|consistency|replica lag|index bloat|dependency upgrades
test isolation|flaky builds|cost of storage|rate limits|payload size|ordering|deduplication|encryption at rest
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

CATEGORIES = (
    """
caching|storage|messaging|security|deployment|testing|performance|observability|data|networking|api|frontend
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

TAGS = (
    """
database|cache|queue|security|latency|cost|release|incident|migration|api|frontend|backend|infrastructure|tests
monitoring|privacy|billing|search|mobile|data
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

REASONS = (
    """
two people were woken by it in one month|the old way could not be tested|every team had solved it differently
support asked for it three times|the provider raises its price next quarter|an audit found it
we measured it twice and believed the second number|the team that knew the old system is gone
the failure was silent|nobody could say which copy was right|it halves the work of a release
the load doubles every autumn|a customer's export took nine hours|it is what the on-call person does by hand
the default changed between two versions|one region would have to wait for another
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

METRICS = (
    """
p95 latency|error rate|queue depth|cache hit rate|rows read per request|time to recover|cost per thousand requests
build time|memory per worker|open connections|replication delay|write throughput
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

ACTIONS = (
    """
drain the queue|rotate the credentials|rebuild the index|lower the batch size|pin the version|split the table
move the check into the transaction|add a time-out|measure it again|write the runbook|turn the flag off
replay the last hour|cap the pool|log the request id|ask the owner of the data|delete the second copy
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

WHENS = (
    """
during the Friday release|under twice the usual load|after a failover|on the first of the month
when the cache was cold|while a migration ran|behind the corporate proxy|at midnight UTC|in the second region
with a full disk|after an upgrade of the driver|when two workers held the same job
""".replace("\n", "|")
    .strip("|")
    .split("|")
)

# {c} component, {t} technology, {q} concern, {r} reason, {m} metric, {a} action, {w} when, {n} a number, {u} own term
SENTENCES = """
The {c} now handles {q} itself, because {r}.
We keep {t} for the {c} and accept what that means for {q}.
{t} was tried {w}; the {m} rose to {n} and stayed there.
Whoever changes the {c} has to {a} first.
The {m} of {u} went from {n} to {n} within a week.
Nothing in the {c} may assume that {t} answers within {n} ms.
If {q} comes back, {a}, then {a}.
The alternative was to leave {q} to {t}, which fails {w}.
{u} reads from the replica unless the caller has just written.
We looked at {n} incidents; most of them began with {q} in the {c}.
A test holds {n} rows and fails when the {m} moves by more than a tenth.
The contract says that {u} is asked once and answers with the newest version.
This holds as long as the {c} stays below {n} requests a second.
Before that, {u} had its own idea of {q}, and {r}.
The {c} and the {u} share one pool of {n} connections.
{w}, the {c} lost {n} messages, and the log said nothing.
Reviewers asked why not {t}: {r}.
What we give up is {q}; what we gain is a {m} that can be promised.
It costs {n} euros a month more and saves a day of work each release.
The first version did this with {t}, and {r}.
Readers see the old value for at most {n} seconds.
To go back, {a}; the data stay readable for both versions.
The owner of {u} agreed, provided that we {a} every quarter.
{q} is checked in the {c}, not in its callers.
Two services depend on it: the {c} and {u}.
Measured {w}: {m} {n}, against {n} before.
When in doubt, {a} and look at the {m}.
The migration runs in steps of {n} rows so that {t} is never locked for long.
A caller that gives no key is refused; {r}.
{t} keeps {n} days of history, which is enough for {u}.
The {c} writes the intent first and does the work afterwards.
We do not retry here: the second attempt met the first one {w}.
""".strip().split("\n")

TITLES = {
    "decision": [
        "Use {t} for {q} in the {c}", "Move {u} from the {c} to {t}", "Keep {q} out of {u}", "{u}: {q} belongs to the {c}",
        "Let the {c} own {q}", "Split {u} before it meets {t}", "Do not retry {u} in the {c}",
    ],
    "pattern": ["{q} with {t} in {u}", "{c}: one key for {u}", "Bounded {q} for {u}", "{t} behind the {c}", "Write {u} once, read it twice"],
    "pitfall": ["{t} hides {q} {w}", "{u} loses {q} {w}", "{c} and {u} wait for each other", "Silent {q} in the {c}", "{t} default breaks {u}"],
}  # fmt: skip

CODE = """
def {f}(request, *, attempts={n}):
    for attempt in range(attempts):
        with {v}.transaction() as tx:
            if tx.seen(request.key):
                return tx.answer(request.key)
            tx.store(request.key, {v}.apply(request))
    raise TimeoutError({q!r})
""".strip()

AGENTS = ["dba-agent", "release-agent", "review-agent", "incident-agent", "planner", "coder", "docs-agent", "test-agent"]  # fmt: skip
PEOPLE = ["ada", "cleo", "ines", "marek", "noor", "tove"]
TRIGGERS = ["alert", "pull request", "schedule", "question", "deployment", "ticket"]
OUTCOMES = ["success", "success", "success", "performance", "outage", "regression", "cost", "failure", "security", "reversal"]  # fmt: skip
PROJECTS = (
    """
shop|harbour|ledger|atlas|courier|observatory|clinic|library|tramway|orchard|foundry|quarry|lantern|meadow|beacon
viaduct|granary|workshop|archive|terminal
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
