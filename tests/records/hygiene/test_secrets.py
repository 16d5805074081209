"""Fifty planted secrets of more than twenty kinds are taken out; prose, ids, hashes and placeholders stay."""

from __future__ import annotations

import json
import random
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from records.hygiene.secrets import MARK, redact, redact_json, secrets_in
from tests.public_records import public_records

ALNUM, UPPER32 = string.ascii_letters + string.digits, string.ascii_uppercase + "234567"
HEX, URLSAFE = "0123456789abcdef", string.ascii_letters + string.digits + "-_"


def made(rng: random.Random, alphabet: str, count: int) -> str:
    """Of both cases and digits where the alphabet has them, as a generator's would be."""
    text = [rng.choice(alphabet) for _ in range(count)]
    for place, some in enumerate((string.digits, string.ascii_lowercase, string.ascii_uppercase)):
        if both := [letter for letter in some if letter in alphabet]:
            text[3 * place + 1] = rng.choice(both)
    return "".join(text)


def planted(seed: int) -> dict[str, tuple[str, str]]:
    """name -> (the secret alone, the text around it with {} for the secret). Made here: none was ever valid."""
    rng = random.Random(seed)
    alone = "{}"
    return {
        "AWS access key": ("AKIA" + made(rng, UPPER32, 16), alone),
        "AWS secret key": (made(rng, ALNUM + "/+", 40), "aws_secret_access_key = {}"),
        "GitHub token": ("ghp_" + made(rng, ALNUM, 36), alone),
        "GitHub token (fine)": ("github_pat_" + made(rng, ALNUM, 22) + "_" + made(rng, ALNUM, 59), alone),
        "GitLab token": ("glpat-" + made(rng, URLSAFE, 20), alone),
        "Slack token": ("xoxb-" + made(rng, string.digits, 12) + "-" + made(rng, ALNUM, 24), alone),
        "Slack webhook": ("T" + made(rng, ALNUM, 9) + "/B" + made(rng, ALNUM, 9) + "/" + made(rng, ALNUM, 24), "https://hooks.slack.com/services/{}"),
        "Google API key": ("AIza" + made(rng, URLSAFE, 35), alone),
        "Stripe key": ("sk_live_" + made(rng, ALNUM, 24), alone),
        "Stripe webhook secret": ("whsec_" + made(rng, ALNUM, 32), alone),
        "OpenAI key": ("sk-proj-" + made(rng, URLSAFE, 48), alone),
        "Anthropic key": ("sk-ant-api03-" + made(rng, URLSAFE, 64), alone),
        "Hugging Face token": ("hf_" + made(rng, ALNUM, 34), alone),
        "npm token": ("npm_" + made(rng, ALNUM, 36), alone),
        "PyPI token": ("pypi-AgEIcHlwaS5vcmc" + made(rng, URLSAFE, 60), alone),
        "SendGrid key": ("SG." + made(rng, URLSAFE, 22) + "." + made(rng, URLSAFE, 43), alone),
        "Telegram bot token": (made(rng, string.digits, 9) + ":AA" + made(rng, URLSAFE, 33), alone),
        "Vault token": ("hvs." + made(rng, URLSAFE, 28), alone),
        "JSON web token": ("eyJ" + made(rng, URLSAFE, 20) + ".eyJ" + made(rng, URLSAFE, 40) + "." + made(rng, URLSAFE, 43), alone),
        "DigitalOcean token": ("dop_v1_" + made(rng, HEX, 64), alone),
        "Memory Desk token": ("mdk_" + made(rng, URLSAFE, 32), alone),
        "private key": ("\n".join(["", *(made(rng, ALNUM + "+/", 64) for _ in range(3)), ""]), "-----BEGIN RSA PRIVATE KEY-----{}-----END RSA PRIVATE KEY-----"),
        "password in an address": (made(rng, ALNUM, 12), "postgres://orders:{}@db-2.internal:5432/shop"),
        "authorization header": (made(rng, ALNUM, 40), "Authorization: Bearer {}"),
        "password": (made(rng, ALNUM + "!#%", 14), "DB_PASSWORD={}"),
    }  # fmt: skip


PROSE = "We found this in the log at 02:14: {} and rotated nothing yet."


@pytest.mark.parametrize("name", planted(0))
@pytest.mark.parametrize("seed", [1, 2])
def test_a_planted_secret_is_gone_from_prose_json_and_addresses(name, seed):
    secret, around = planted(seed)[name]
    text = around.format(secret)
    kind = name.partition(" (")[0]
    for whole in (PROSE.format(text), f"`{text}`", f'curl "https://x.example/?a={text}&b=1"', text):
        clean, kinds = redact(whole)
        assert secret not in clean, whole
        assert kinds == [kind], whole
        assert clean == whole.replace(secret, MARK.format(kind))
    value, kinds = redact_json({"steps": [{"cmd": text, "n": 1}], "ok": True})
    assert secret not in json.dumps(value)
    assert kinds == [kind]
    assert redact(clean) == (clean, [])  # once is enough


def test_a_value_is_read_with_its_key_in_json():
    secret = planted(3)["password"][0]
    value, kinds = redact_json({"db_password": secret, "user": "orders", "port": 5432, "token": None})
    assert value == {"db_password": MARK.format("password"), "user": "orders", "port": 5432, "token": None}
    assert kinds == ["password"]


@pytest.mark.parametrize(
    "text",
    [
        "497e6ca6f1d0c9a1b2c3d4e5f60718293a4b5c6d is the commit, 6f1ed002ab5595859014ebf0951522d9 its md5",
        "run_3112f2dc7f0a4b6e9d8c7b6a59483726 and 550e8400-e29b-41d4-a716-446655440000",
        "password: required, token: string, api_key = None, secret=<your secret>, PASSWORD=${DB_PASSWORD}",
        "mysql://user:password@localhost/db and redis://:pass@host and amqp://guest:guest@rabbit",
        "Authorization: Bearer <token>, Bearer $TOKEN, Bearer xxxxxxxxxxxxxxxxxxxxxxxx",
        "The access token expires after 3600 seconds; the key: value pairs are sorted.",
        "token = get_token_from_header(request), secret_key=os.environ['SECRET_KEY']",
        "sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
        "sk-learn, sk-spinner-three-bounce-animation-wrapper-class and key-value-store-for-configuration",
        "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIB\n-----END PUBLIC KEY-----",
        "tokenizer: unicode61, pass: 3 of 4, passes: 12/12, keyboard: qwerty-us-2021",
        "https://example.com/a@b:c and git@github.com:owner/repository2024.git",
        "ACCOUNT_KEY_ROTATION: every-90-days, api_key: see vault path kv/data/prod/api1",
    ],
)
def test_what_is_no_secret_stays(text):
    assert redact(text) == (text, [])


def test_real_records_hold_none():
    read = 0
    for path in sorted(public_records().rglob("*")):
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            assert list(secrets_in(text)) == [], path
            read += 1
    assert read > 300


@given(st.text())
def test_any_text_keeps_all_but_its_secrets(text):
    clean, kinds = redact(text)
    assert (clean == text) == (not kinds)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (r"{\"password\": \"{}\"}", r"{\"password\": \"[redacted: password]\"}"),
        ("next=%2F%3Fpassword%3D{}&b=1", "next=%2F%3Fpassword%3D[redacted: password]&b=1"),
        ("PGPASSWORD={} psql shop", "PGPASSWORD=[redacted: password] psql shop"),
        ("dbpassword: {}", "dbpassword: [redacted: password]"),
    ],
)
def test_a_password_is_seen_in_escaped_json_in_an_encoded_address_and_behind_any_prefix(text, clean):
    assert redact(text.replace("{}", "aB1!cD2@eF3")) == (clean, ["password"])


def test_a_token_after_an_escape_is_alone_and_a_long_value_goes_whole():
    token = planted(4)["GitHub token"][0]
    assert redact(rf"log: \n{token}\n, ?next=a%3D{token}")[0] == (
        r"log: \n[redacted: GitHub token]\n, ?next=a%3D[redacted: GitHub token]"
    )
    long = made(random.Random(5), ALNUM, 700)
    assert redact(f"signing_key={long}") == ("signing_key=[redacted: password]", ["password"])


def test_a_private_key_is_seen_in_code_and_without_its_end():
    line = made(random.Random(6), ALNUM + "+/", 64)
    in_code = f'key = ("-----BEGIN PRIVATE KEY-----\\n"\n "{line}\\n"\n "-----END PRIVATE KEY-----")'
    assert line not in redact(in_code)[0]
    cut = f"-----BEGIN RSA PRIVATE KEY-----\n{line}\n{line}\nand then the log was cut"
    assert (
        redact(cut)[0] == "-----BEGIN RSA PRIVATE KEY-----[redacted: private key]\nand then the log was cut"
    )
    code = 'if "-----BEGIN PRIVATE KEY-----" in text and text.endswith("-----END PRIVATE KEY-----"): pass'
    assert redact(code) == (code, [])


def test_in_json_a_name_beside_its_value_a_list_and_odd_signs():
    secret = "aB1;cD2,eF3"
    clean = MARK.format("password")
    assert redact_json({"env": [{"name": "DB_PASSWORD", "value": secret}, {"name": "HOST", "value": secret}]}) == (
        {"env": [{"name": "DB_PASSWORD", "value": clean}, {"name": "HOST", "value": secret}]}, ["password"],
    )  # fmt: skip
    assert redact_json({"password": [secret, "none"]}) == ({"password": [clean, "none"]}, ["password"])
    one, two = planted(1)["GitHub token"][0], planted(2)["GitHub token"][0]
    assert sorted(redact_json({one: 1, two: 2})[0].values()) == [1, 2]  # no value is lost


@pytest.mark.parametrize(
    "piece",
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        "password=key" + "1" * 180 + "~ ",  # digits that may be cut in many ways
        "password=" + "_" * 150 + "~1aB ",
        "password: aB1!cD2@eF3# ",
        "sk-",
        ".eyJaaaaaaaaaa",
        "aws ",
    ],
)
def test_an_adversarys_text_takes_no_longer_than_another(piece):
    text = piece * (200_000 // len(piece))
    began = time.process_time()
    redact(text)
    assert time.process_time() - began < 3


@given(st.lists(st.sampled_from(["password", "token", "=", ": ", '"', "ghp_" + "aB1" * 12, "aB1!cD2@", " ", "://u:", "@h", "&sig=", "\\n", "-----BEGIN PRIVATE KEY-----", "A" * 44, "-----END PRIVATE KEY-----", "bearer ", "eyJ" + "a1" * 9 + ".", "1"]), max_size=14))  # fmt: skip
def test_what_was_cleaned_once_stays_as_it_is(pieces):
    clean, _kinds = redact("".join(pieces))
    assert redact(clean) == (clean, [])
