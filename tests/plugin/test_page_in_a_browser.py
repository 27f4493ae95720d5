"""
The page in Chromium: it opens without a complaint, can be read, and is worked by the keyboard.

It needs the dependency group ``browser`` and a Chromium of the system; without one of them it is skipped, but not where
``BENCHGATE_REQUIRE_BROWSER`` is 1, as in ``.ci/run`` on a machine that has one.
"""

from __future__ import annotations

import json
import os
import shutil

import pytest

from benchgate.cli import main

REQUIRED = os.environ.get("BENCHGATE_REQUIRE_BROWSER") == "1"
if not REQUIRED:
    pytest.importorskip("playwright.sync_api")
from playwright import sync_api as playwright  # noqa: E402

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
assert CHROMIUM is not None or not REQUIRED, "BENCHGATE_REQUIRE_BROWSER=1, and there is no Chromium"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium of the system"),
]

LOW_CONTRAST = """() => {
  const channels = text => text.match(/[\\d.]+/g).map(Number);
  const linear = v => v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => [r, g, b].map(linear)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => {
    for (; e; e = e.parentElement) {
      const found = channels(getComputedStyle(e).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return channels("rgb(255, 255, 255)");
  };
  const wrong = [];
  for (const e of document.querySelectorAll("body *")) {
    if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.checkVisibility()) continue;
    const style = getComputedStyle(e);
    const ink = channels(e instanceof SVGElement ? style.fill : style.color);
    const [a, b] = [light(ink), light(ground(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const name = `${e.tagName}.${e.getAttribute("class")}`;
    if (ratio < 4.5) wrong.push(`${name}: ${ratio.toFixed(2)} ${e.textContent.slice(0, 30)}`);
  }
  return wrong;
}"""
"""The elements with text of less than the contrast that WCAG 2 asks for at level AA."""


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture
def page_of_logs(tmp_path):
    """Returns the page of two logs whose answers are hostile, long and different."""
    long = "<script>alert(1)</script>\u202e" + "word" * 200
    for name, answer in (("old", f"{long}\nyes\n"), ("new", f"{long}\nno\n")):
        rows = [
            {"id": f"c{n:02}", "input": long, "score": int(name == "old"), "output": answer}
            for n in range(12)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    target = tmp_path / "page.html"
    logs = [str(tmp_path / f"{name}.jsonl") for name in ("old", "new")]
    assert main(["gate", *logs, "--html", str(target)]) == 1
    return target


@pytest.fixture
def target(hostile_report):
    """Returns the page of the hostile run."""
    target = hostile_report.root / "page.html"
    assert main(["report", str(hostile_report.folder()), "--html", str(target)]) == 0
    return target


@pytest.fixture
def open_page(browser, request):
    """Opens a page; whatever the browser complains of or asks for fails the test."""
    name = "page_of_logs" if "page_of_logs" in request.fixturenames else "target"
    target = request.getfixturevalue(name)
    complaints, contexts = [], []

    def opened(*, width=1100, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        for event in ("console", "pageerror", "dialog", "crash", "requestfailed"):
            page.on(event, lambda found, event=event: complaints.append(f"{event}: {found}"))
        page.on(
            "request",
            lambda request: request.url == target.as_uri() or complaints.append(request.url),
        )
        page.goto(target.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def open_cases(page):
    for case in page.locator("details.case > summary").all():
        case.click()
    for file in page.locator("details.file > summary").all():
        file.click()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1100])
def test_it_can_be_read(open_page, width, scheme):
    page = open_page(width=width, scheme=scheme)
    open_cases(page)
    assert page.evaluate(LOW_CONTRAST) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("h1").first.bounding_box()["y"] < 200


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "beside"), [(420, False), (1200, True)])
def test_both_answers_can_be_read(page_of_logs, open_page, width, beside, scheme):
    page = open_page(width=width, scheme=scheme)
    open_cases(page)
    assert page.evaluate(LOW_CONTRAST) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    places = [one.bounding_box() for one in page.locator(".both").first.locator("> div").all()]
    assert (places[0]["y"] == places[1]["y"]) is beside
    assert page.locator("ins").first.inner_text() == "no"
    assert page.locator("script").count() == 0


def test_the_two_schemes_differ(open_page):
    grounds = {
        open_page(scheme=scheme).evaluate("getComputedStyle(document.body).backgroundColor")
        for scheme in ("light", "dark")
    }
    assert len(grounds) == 2


def test_a_case_opens_and_closes_by_the_keyboard(open_page):
    page = open_page()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('details.case > summary')"):
            break
    is_open = "document.activeElement.parentElement.open"
    assert page.evaluate(is_open) is False
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    page.keyboard.press("Enter")
    assert page.evaluate(is_open) is True
    assert page.evaluate(
        "document.activeElement.parentElement.querySelector('.inside').checkVisibility()"
    )
    page.keyboard.press("Enter")
    assert page.evaluate(is_open) is False


def test_hostile_text_is_text(open_page, hostile_text):
    page = open_page()
    open_cases(page)
    assert page.locator("script, img, iframe, object, embed").count() == 0
    shown = page.locator("p.why").all_inner_texts()
    assert any("<img src=x onerror=alert(2)>" in text for text in shown)
    assert "\\u202eevil\\u2066" in page.locator("body").inner_text()
    assert "\u202e" not in page.locator("body").inner_text()


def test_the_policy_of_the_page_lets_nothing_run(browser, open_page):
    html = open_page().content()
    context = browser.new_context()
    page, refused = context.new_page(), []
    page.on("console", lambda message: refused.append(message.text))
    page.set_content(
        html.replace(
            "</main>",
            "<script>window.ran = 1</script><p id=p style='color: red'>x</p><img src=https://x.invalid/></main>",
            1,
        )
    )
    page.wait_for_function("document.querySelector('img')")
    assert page.evaluate("window.ran") is None
    assert page.evaluate("getComputedStyle(document.querySelector('#p')).color") != "rgb(255, 0, 0)"
    page.wait_for_timeout(300)
    assert len([text for text in refused if "Content Security Policy" in text]) >= 3, refused
    context.close()
