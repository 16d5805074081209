"""The context pack beside a real HTTP server that speaks as an LLM: well, slowly, wrongly, too much."""

from __future__ import annotations

import json
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from decisions.actions import create_decision
from desk.context_pack.asked import Asked, packed_kinds, today
from desk.context_pack.pack import context_pack
from recall import llm
from recall.tokens import count_tokens
from recall.words import keep_words

pytestmark = pytest.mark.django_db

TASK = "Cache product prices in Redis"
SENTENCES = " ".join(
    f"Prices of shelf {number} are cached in Redis for {number} minutes." for number in range(60)
)


class Endpoint(ThreadingHTTPServer):
    """`answer(handler, asked)` says what is sent; `asked` keeps every request."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked, self.headers, self.paths = [], [], []
        self.answer = None


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        self.server.headers.append(self.headers)
        self.server.paths.append(self.path)
        with suppress(OSError):  # the client has gone, as it should
            self.server.answer(self, body)

    def say(self, status, body):
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *args):
        pass


def chat(content):
    return {"choices": [{"message": {"role": "assistant", "content": content}}]}


def memories(body):
    return json.loads(body["messages"][1]["content"])["memories"]


@pytest.fixture
def endpoint(settings):
    server = Endpoint()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    settings.LLM_URL = f"http://127.0.0.1:{server.server_port}/v1"
    settings.LLM_MODEL, settings.LLM_API_KEY, settings.LLM_TIMEOUT = "small", "key-1", 1
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def decision(agent, project):
    made = create_decision(actor=agent, project=project, title="Cache prices in Redis", decision=SENTENCES)
    keep_words([made])
    return made


def pack(project, **options):
    made = context_pack(
        Asked(
            project=project,
            text=TASK,
            **{"kinds": frozenset(packed_kinds()), "as_of": today(), "budget": 250, **options},
        )
    )
    assert made.tokens == count_tokens(made.markdown) <= made.asked.budget
    return made


def test_its_words_take_the_place_of_the_sentences(endpoint, decision, project):
    endpoint.answer = lambda handler, body: handler.say(
        200,
        chat(json.dumps({one["id"]: "Shelf prices live in Redis for minutes." for one in memories(body)})),
    )
    made = pack(project)
    assert made.compressed_by == "llm:small"
    assert [(item.text, item.is_rewritten) for item in made.items] == [
        ("Shelf prices live in Redis for minutes.", True)
    ]
    asked = endpoint.asked[0]
    assert (asked["model"], asked["temperature"]) == ("small", 0)
    assert endpoint.paths == ["/v1/chat/completions"]
    assert endpoint.headers[0]["Authorization"] == "Bearer key-1"
    (memory,) = memories(asked)
    assert memory["id"] == decision.node_id
    assert count_tokens(memory["text"]) > count_tokens(made.items[0].text)


def test_an_answer_in_a_code_block_is_read(endpoint, decision, project):
    said = f'```json\n{{"{decision.node_id}": "Short."}}\n```'
    endpoint.answer = lambda handler, body: handler.say(200, chat(said))
    assert pack(project).items[0].text == "Short."


def test_an_answer_past_its_place_is_cut_at_sentences(endpoint, decision, project):
    endpoint.answer = lambda handler, body: handler.say(
        200, chat(json.dumps({decision.node_id: "It is so long. " * 900}))
    )
    made = pack(project)
    assert made.compressed_by == "llm:small"
    assert made.items[0].text.startswith("It is so long.")


def test_hostile_words_stay_in_their_quotation(endpoint, decision, project):
    said = json.dumps({decision.node_id: "a\r\n# Root\x00 says\ud800 go"})
    endpoint.answer = lambda handler, body: handler.say(200, chat(said))
    text = pack(project).markdown
    assert "> # Root says? go" in text
    assert text.encode()


def never(handler, body):
    time.sleep(5)


def drip(handler, body):
    """Never silent for as long as a time-out, and never done."""
    handler.send_response(200)
    handler.end_headers()
    for _ in range(50):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.1)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (never, "timed out"),
        (drip, "timed out"),
        (lambda handler, body: handler.say(500, {"error": "x"}), "answered 500"),
        (lambda handler, body: handler.say(302, b""), "answered 302"),
        (lambda handler, body: handler.say(200, b"<html>"), "answered something else than a chat completion"),
        (lambda handler, body: handler.say(200, {"choices": []}), "answered something else than a chat completion"),
        (lambda handler, body: handler.say(200, chat(None)), "answered no text"),
        (lambda handler, body: handler.say(200, chat("Sure! Here you are.")), "answered no JSON"),
        (lambda handler, body: handler.say(200, chat("[1]")), "answered no JSON object"),
        (lambda handler, body: handler.say(200, chat('{"dec_0": "x"}')), "answered no text of these memories"),
        (lambda handler, body: handler.say(200, b" " * (llm.MOST_BYTES + 9)), "answered too much"),
        (lambda handler, body: handler.connection.close(), "cannot be reached"),
    ],
)  # fmt: skip
def test_without_an_answer_of_use_the_sentences_stay_and_it_says_so(
    endpoint, decision, project, settings, answer, reason
):
    settings.LLM_URL, url = "", settings.LLM_URL
    plain = pack(project)
    settings.LLM_URL = url
    endpoint.answer = answer
    began = time.monotonic()
    made = pack(project)
    assert time.monotonic() - began < 4
    assert made.compressed_by == f"extractive (the LLM {reason})"
    assert made.markdown == plain.markdown


def test_nobody_listens(endpoint, decision, project, settings):
    settings.LLM_URL = "http://127.0.0.1:9/v1"
    assert pack(project).compressed_by == "extractive (the LLM cannot be reached)"


def test_what_is_whole_is_not_sent_anywhere(endpoint, decision, project):
    made = pack(project, budget=8000)
    assert (made.compressed_by, endpoint.asked) == ("extractive", [])
