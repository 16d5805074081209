"""Markdown: safe whatever comes in, complete whatever its size."""

import html
import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from records.highlighting import CODE_CSS, code_css, highlight
from records.markdown import render

EVENT = re.compile(r"^on", re.IGNORECASE)
HOSTILE = st.lists(
    st.sampled_from(
        ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "[a](javascript:alert(1))", "![a](data:text/html,x)",
         "[x](JaVaScRiPt&colon;alert(1))", "<a href='javascript:x'>", "```html\n<script>\n```\n", "`<b>`", "[", "](", ")", "\n",
         "> ", "- ", "# ", "|a|b|\n|-|:-:|\n", "![", '"onmouseover="x', "<style>", "style=", "&lt;script&gt;", "<!--", "***",
         "http://a.b/\"onclick=x", "[r]: javascript:x\n", "[r]", "dec_123", "\x00", "\ud800", "~~", "<svg/onload=x>"]
    ),
    max_size=40,
).map("".join)  # fmt: skip


class Reader(HTMLParser):
    """Reads a page as a browser does: the tags and attributes that are really there."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data):
        self.text += data


def assert_safe(page):
    read = Reader(page)
    assert not {"script", "style", "img", "iframe", "svg", "object", "form", "input", "h1", "h2"} & set(
        read.tags
    )
    for _tag, name, value in read.attributes:
        assert name in {"href", "title", "rel", "class", "data-copy", "data-language", "start", "tabindex"}
        assert not EVENT.match(name)
        if name == "href":
            scheme = re.match(r"[\s\x00-\x20]*([a-z][a-z0-9+.-]*):", value, re.IGNORECASE)
            assert scheme is None or scheme.group(1).lower() in {"http", "https", "mailto"}
    assert "<script" not in page.lower()


@given(st.one_of(st.text(max_size=300), HOSTILE))
@settings(max_examples=400, deadline=None)
def test_nothing_that_runs_comes_out(text):
    assert_safe(render(text))


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<b onclick=x>hi</b>",
        '<p style="color:red">x</p>',
        "[x](javascript:alert(1))",
    ],
)
def test_raw_html_and_bad_links_are_shown_as_text(text):
    page = render(text)
    assert_safe(page)
    assert Reader(page).text.strip() == text


def test_headings_leave_the_first_two_levels_to_the_page():
    page = render("# a\n\n## b\n\n#### c")
    assert "<h3>a</h3>" in page
    assert "<h4>b</h4>" in page
    assert "<h6>c</h6>" in page


def test_links_show_where_they_lead():
    page = render(
        "[our docs](https://user@evil.example/x) and https://plain.example/y and [here](/decisions/)"
    )
    assert 'rel="nofollow noopener noreferrer"' in page
    assert '</a> <span class="host">evil.example</span>' in page
    assert '<span class="host">plain.example' not in page
    assert 'href="/decisions/"' in page


def test_a_link_that_names_another_host_is_unmasked():
    assert '<span class="host">evil.example</span>' in render("[https://good.example](https://evil.example)")
    assert '<span class="host">evil.example</span>' in render("[x](//evil.example/y)")


def test_images_become_links():
    page = render(
        "![the plan](https://pictures.example/plan.png) [![badge](https://b.example/b.svg)](https://ci.example/)"
    )
    assert_safe(page)
    assert 'href="https://pictures.example/plan.png"' in page
    assert ">the plan</a>" in page
    assert ">badge</a>" in page


def test_code_is_coloured_by_classes_in_a_block_to_copy():
    page = render('```python\ndef f():\n    return "<b>"\n```')
    assert '<div class="code" data-copy="">' in page
    assert '<code data-language="python">' in page
    assert '<span class="k">def</span>' in page
    assert Reader(page).text.strip() == 'def f():\n    return "<b>"'
    assert '<div class="code" data-copy="">' in render("    indented")
    assert "some text" in render("```no-such-language\nsome text\n```")


def test_tables_align_by_class():
    page = render("|a|b|\n|--|--:|\n|1|2|")
    assert 'class="align-right"' in page
    assert "style" not in page


def test_ids_and_names_are_not_touched():
    for text in (
        "dec_123",
        "run_0123456789abcdef0123456789abcdef",
        "see dec_1, pat_2 and pit_3",
        "snake_case_name",
    ):
        assert render(text).strip() == f"<p>{text}</p>"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 20_000, "![" * 10_000, "[a](" * 5_000, "*a **a " * 5_000, "*" * 50_000, ">" * 20_000 + "a",
        "\n".join(" " * n + "- a" for n in range(500)), "- " * 5_000, "<" * 50_000, "_a " * 20_000, "~~a " * 20_000,
        "&" * 50_000, "http://" * 5_000, "www." * 10_000, "a@" * 10_000, "a\n" * 50_000, "#\n" * 19_000, "```\n" * 19_000,
        "a" * 300_000, "\\" * 50_000, "|a" * 5_000 + "\n" + "|-" * 5_000, "a|b\n-|-\n" + "a|b\n" * 10_000,
        "".join("`" * n + " " for n in range(600)), "[a]\n\n" * 3_000, ("[" * 1_400 + "\n\n") * 10, "[a][" * 1_400,
        "".join(f"[r{n}]: http://x.y/{n}\n" for n in range(5_000)), "Some text. " * 95_000, "数" * 340_000,
        "```python\n" + "(" * 19_000 + "\n```", "```js\n" + "/" * 19_000 + "\n```", "```html\n" + "<" * 19_000 + "\n```",
    ],
    ids=lambda text: repr(text[:8]),
)  # fmt: skip
def test_odd_and_long_texts_take_about_a_second_and_lose_nothing(text):
    begun = time.process_time()
    page = render(text)
    assert time.process_time() - begun < 4  # about 1 on a quiet machine
    assert_safe(page)


def test_a_text_too_long_to_parse_is_shown_whole_under_a_note():
    text = "a <b> & c\n" * 60_000
    page = render(text)
    assert page.startswith('<p class="note">Shown as it was written')
    assert html.escape(text) in page


def test_the_stylesheet_is_small_current_and_readable():
    assert CODE_CSS.read_text(encoding="utf-8") == code_css()
    assert len(code_css()) < 6_000
    for light, dark in re.findall(r"light-dark\((#\w{6}), (#\w{6})\)", code_css()):
        assert contrast(light, "#f3f1ec") >= 4.5
        assert contrast(dark, "#1b1e24") >= 4.5


def test_long_code_is_shown_plain():
    assert highlight("x = 1\n" * 10_000, "python") == "x = 1\n" * 10_000


def contrast(one, other):
    """WCAG 2.2 contrast ratio of two colours."""

    def luminance(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)
