"""HTTP recorded and replayed below a client, for each client library that is installed."""

from __future__ import annotations

import asyncio
import importlib
import importlib.util
import json
from types import SimpleNamespace

import pytest

from benchgate.errors import EvalError, Unreadable
from benchgate.http.conversation import Recording, Replay
from benchgate.http.exchange import MAX_RECORDING_BYTES, HttpRecording
from benchgate.http.transport import Transport
from benchgate.models import Cassette
from benchgate.wire.canonical import sha256_hex

INSTALLED = [name for name in ("httpx", "httpx2") if importlib.util.find_spec(name)]
KEY = "sk-live-0123456789abcdefghij"


@pytest.fixture(params=INSTALLED or [pytest.param("", marks=pytest.mark.skip("needs httpx"))])
def library(request):
    return importlib.import_module(request.param)


def echo(library, **changed):
    """A service that says what it was sent, and counts."""
    calls = []

    def handle(request):
        calls.append(request)
        given = {"you said": request.content.decode(), "count": len(calls), **changed}
        return library.Response(200, json=given, headers={"x-request-id": "r1", "x-more": "z"})

    return SimpleNamespace(calls=calls, transport=library.MockTransport(handle))


def refusing(library):
    """Something that sends; a replay must not reach it."""

    def handle(request):
        pytest.fail("a replay was sent")

    return library.MockTransport(handle)


def recorded(library, talk, inner):
    """Return the recording of what a function says to a client."""
    recording = Recording()
    with library.Client(transport=Transport(recording, inner), base_url="http://a.test") as client:
        talk(client)
    return recording.end(scored=True)


def replay(text, name="v1"):
    return Replay(name, HttpRecording.read_json(text.encode()))


def replaying(library, conversation):
    return library.Client(
        transport=Transport(conversation, refusing(library)), base_url="http://elsewhere.test:81"
    )


def test_what_was_recorded_is_replayed_and_never_sent(library):
    service = echo(library)
    heard = []
    text = recorded(
        library,
        lambda client: heard.append(client.post("/v1/chat?b=2&a=1", json={"x": 1, "y": [2.0]})),
        service.transport,
    )
    again = replay(text)
    with replaying(library, again) as client:
        # Another host, other spelling of the same JSON, another order of the query.
        body = b'{ "y": [2], "x": 1.0 }'
        answer = client.post("/v1/chat?a=1&b=2", content=body)
    assert len(service.calls) == 1
    assert (answer.status_code, answer.content) == (200, heard[0].content)
    # While it is recorded a client gets what a replay will give it, and no more.
    assert dict(answer.headers) == dict(heard[0].headers)
    assert answer.headers["x-request-id"] == "r1"
    assert "x-more" not in answer.headers
    assert again.end(scored=True) is None


def test_equal_requests_get_their_answers_in_order_and_others_in_any(library):
    def talk(client):
        for said in "aba":
            client.post("/", json=said)

    text = recorded(library, talk, echo(library).transport)
    with replaying(library, replay(text)) as client:
        counts = [client.post("/", json=said).json()["count"] for said in "aab"]
    assert counts == [1, 3, 2]


def test_an_async_client_replays_what_runs_at_the_same_time_and_what_a_sync_one_recorded(library):
    text = recorded(
        library, lambda c: [c.post("/", json=n) for n in range(20)], echo(library).transport
    )

    async def ask():
        transport = Transport(replay(text), refusing(library))
        async with library.AsyncClient(transport=transport, base_url="http://b.test") as client:
            return await asyncio.gather(*(client.post("/", json=n) for n in reversed(range(20))))

    assert [a.json()["count"] for a in asyncio.run(ask())] == list(range(20, 0, -1))


def test_an_async_client_records(library):
    service = echo(library)
    recording = Recording()

    async def ask():
        transport = Transport(recording, service.transport)
        async with library.AsyncClient(transport=transport, base_url="http://b.test") as client:
            return await asyncio.gather(*(client.post("/", json=n) for n in range(5)))

    heard = asyncio.run(ask())
    with replaying(library, replay(recording.end(scored=True))) as client:
        assert [client.post("/", json=n).content for n in range(5)] == [a.content for a in heard]


def test_a_stream_is_recorded_whole_and_replayed_as_a_stream(library):
    events = [f"data: {n}\n\n".encode() for n in range(3)]

    def handle(request):
        headers = {"content-type": "text/event-stream"}
        return library.Response(200, content=iter(events), headers=headers)

    def lines(client):
        with client.stream("GET", "/events") as response:
            return response.headers["content-type"], list(response.iter_lines())

    heard = []
    text = recorded(library, lambda c: heard.append(lines(c)), library.MockTransport(handle))
    with replaying(library, replay(text)) as client:
        assert [lines(client)] == heard
    assert heard[0][1][0] == "data: 0"


def test_a_compressed_body_is_recorded_as_it_reads_and_a_binary_one_as_it_is(library):
    import gzip

    def handle(request):
        if request.url.path == "/zip":
            headers = {"content-encoding": "gzip"}
            return library.Response(200, content=gzip.compress(b"plain"), headers=headers)
        return library.Response(200, content=b"\xff\x00")

    def talk(client):
        assert client.get("/zip").text == "plain"
        assert client.get("/binary").content == b"\xff\x00"

    text = recorded(library, talk, library.MockTransport(handle))
    with replaying(library, replay(text)) as client:
        talk(client)
    assert '"text": "plain"' in text


def test_a_refusal_and_a_failed_connection_are_replayed_as_they_came(library):
    def handle(request):
        if request.url.path == "/busy":
            return library.Response(429, headers={"Retry-After": "7"}, json={"error": "slow down"})
        msg = "all hung up"
        raise library.ConnectTimeout(msg, request=request)

    def talk(client):
        busy = client.get("/busy")
        assert (busy.status_code, busy.headers["retry-after"]) == (429, "7")
        with pytest.raises(library.ConnectTimeout, match="all hung up") as caught:
            client.get("/away")
        assert caught.value.request.url.path == "/away"

    text = recorded(library, talk, library.MockTransport(handle))
    with replaying(library, replay(text)) as client:
        talk(client)


@pytest.mark.parametrize("error", ["Client", "KeyboardInterrupt", "get", "HTTPStatusError", "x"])
def test_a_recording_cannot_name_just_any_exception(library, error):
    text = recorded(library, lambda c: c.get("/"), echo(library).transport)
    content = json.loads(text)
    content["exchanges"][0]["answer"] = {"error": error, "message": "m"}
    with (
        replaying(library, replay(json.dumps(content))) as client,
        pytest.raises(EvalError, match="has no exception"),
    ):
        client.get("/")


CHAT = {"model": "m", "messages": [{"role": "user", "content": "Bees dance."}]}


@pytest.mark.parametrize(
    ("method", "path", "body", "differs"),
    [
        ("POST", "/v1/chat", CHAT | {"model": "n"}, "differs in body.model"),
        ("POST", "/v1/chat", CHAT | {"seed": 1}, "differs in body.seed"),
        (
            "POST",
            "/v1/chat",
            CHAT | {"messages": [{"role": "user", "content": "Wasps."}]},
            r"request 2 of 2, POST /v1/chat, which differs in body.messages\[0\].content$",
        ),
        ("POST", "/v1/chat", CHAT | {"messages": []}, "differs in body.messages$"),
        ("PUT", "/v1/chat", CHAT, "PUT /v1/chat was not recorded; .* differs in method"),
        ("POST", "/v2/chat", CHAT, "POST /v2/chat was not recorded; .* POST /v1/chat, .* in path"),
        ("POST", "/v1/chat?a=1", CHAT, "differs in query"),
    ],
)
def test_what_was_not_recorded_is_told_by_its_nearest(library, method, path, body, differs):
    def talk(client):
        client.get("/v1/models")
        client.post("/v1/chat", json=CHAT)

    conversation = replay(recorded(library, talk, echo(library).transport))
    with replaying(library, conversation) as client:
        with pytest.raises(EvalError, match=differs):
            client.request(method, path, json=body)
        # What follows is refused for the same reason, and so is the whole.
        with pytest.raises(EvalError, match=differs):
            client.get("/v1/models")
    with pytest.raises(EvalError, match=f"recording 'v1': .*{differs}"):
        conversation.end(scored=False)


def test_one_more_and_one_less_than_recorded_are_told(library):
    text = recorded(library, lambda c: [c.get("/a"), c.get("/b")], echo(library).transport)
    more, less = replay(text), replay(text)
    with replaying(library, more) as client:
        client.get("/a")
        with pytest.raises(EvalError, match="GET /a was recorded 1 times, and is now sent once m"):
            client.get("/a")
    with replaying(library, less) as client:
        client.get("/a")
    less.end(scored=False)  # it failed, which is reason enough
    with pytest.raises(EvalError, match=r"1 of 2 recorded requests were not sent; .* GET /b"):
        less.end(scored=True)


def test_a_recording_without_requests_says_so(library):
    with (
        replaying(library, replay('{"schema_version": 1, "exchanges": []}')) as client,
        pytest.raises(EvalError, match="GET /a was not recorded, nor was any other"),
    ):
        client.get("/a")


def leak(where, secret):
    """Return what to send and to answer so that a secret is in one place."""
    sent = {"method": "POST", "url": "/", "json": {"q": 1}, "headers": {}}
    answer = {"json": {"a": 1}, "headers": {}}
    if where == "the path":
        sent["url"] = f"/{secret}/x"
    elif where == "the query":
        sent["url"] = f"/?q={secret}"
    elif where == "the body":
        sent["json"] = {"q": f"my key is {secret}."}
    elif where == "in its answer the body":
        answer["json"] = {"echo": secret}
    else:
        answer["headers"] = {"x-request-id": f"for-{secret}"}
    return sent, answer


@pytest.mark.parametrize(
    "given",
    [
        (
            "top-secret-1",
            {"Authorization": "Bearer top-secret-1"},
            "value of the request header auth",
        ),
        ("top-secret-2", {"X-Api-Key": "top-secret-2"}, "value of the request header x-api-key"),
        ("top-secret-3", {"Cookie": "a=b; session=top-secret-3"}, "value of the request header co"),
        ("top-secret-4", {}, "value of the environment variable SHOP_API_KEY"),
        (KEY, {}, "what looks like a key"),
        ("ghp_" + "a1" * 18, {}, "what looks like a key"),
    ],
)
@pytest.mark.parametrize(
    "where",
    [
        "the path",
        "the query",
        "the body",
        "in its answer the body",
        "in its answer the header x-request-id",
    ],
)
def test_a_key_anywhere_makes_recording_fail(library, monkeypatch, where, given):
    secret, headers, name = given
    monkeypatch.setenv("SHOP_API_KEY", "top-secret-4")
    sent, answer = leak(where, secret)
    calls = []

    def handle(request):
        calls.append(request)
        return library.Response(200, **answer)

    recording = Recording()
    transport = Transport(recording, library.MockTransport(handle))
    with (
        library.Client(transport=transport, base_url="http://a.test") as client,
        pytest.raises(EvalError, match=f"request 1 .POST. cannot be recorded: {where} has"),
    ):
        client.request(**sent | {"headers": headers})
    assert len(calls) == where.startswith("in its answer")  # else it was not even sent
    with pytest.raises(EvalError, match=name) as caught:
        recording.end(scored=True)
    assert secret not in str(caught.value)


def test_a_key_that_is_a_parameter_of_the_query_is_known_by_its_name(library):
    with pytest.raises(EvalError, match="the query has the parameter api_key"):
        recorded(library, lambda c: c.get("/?api_key=short"), echo(library).transport)


@pytest.mark.parametrize("name", ["page_token", "next-token", "sort_key", "next_page_token"])
def test_a_parameter_that_asks_for_a_page_is_recorded(library, name):
    text = recorded(library, lambda c: c.get(f"/?{name}=short"), echo(library).transport)
    assert name in str(text)


def test_the_header_with_the_key_is_used_and_not_recorded(library, monkeypatch):
    monkeypatch.setenv("SHOP_API_KEY", KEY)
    service = echo(library)
    headers = {"Authorization": f"Bearer {KEY}", "Accept": "application/json", "X-Mine": "1"}
    text = recorded(library, lambda c: c.get("/", headers=headers), service.transport)
    assert service.calls[0].headers["authorization"] == f"Bearer {KEY}"
    assert KEY not in text
    assert json.loads(text)["exchanges"][0]["request"]["headers"] == {"accept": "application/json"}


def test_a_slash_that_json_escapes_hides_no_key(library):
    def handle(request):
        return library.Response(200, content=rb'{"echo": "ab\/cd\/efgh"}')

    with pytest.raises(EvalError, match="in its answer the body has the value of the request head"):
        recorded(
            library,
            lambda c: c.get("/", headers={"x-api-key": "ab/cd/efgh"}),
            library.MockTransport(handle),
        )


def test_a_request_that_was_given_up_cannot_be_recorded(library):
    recording = Recording()

    async def ask():
        asked = asyncio.Event()

        async def handle(request):
            asked.set()
            await asyncio.sleep(60)

        transport = Transport(recording, library.MockTransport(handle))
        async with library.AsyncClient(transport=transport) as client:
            request = asyncio.create_task(client.get("http://a.test/slow"))
            await asked.wait()
            request.cancel()
            with pytest.raises(asyncio.CancelledError):
                await request

    asyncio.run(ask())
    assert json.loads(recording.end(scored=False))["exchanges"] == []
    with pytest.raises(EvalError, match=r"request 1 \(GET\) cannot be recorded: it was given up"):
        recording.end(scored=True)


def test_a_response_without_end_is_not_recorded(library, monkeypatch):
    for module in ("conversation", "transport"):
        monkeypatch.setattr(f"benchgate.http.{module}.MAX_RECORDING_BYTES", 2**22)

    def handle(request):
        return library.Response(200, content=(b"x" * 2**20 for _ in range(10**9)))

    with pytest.raises(
        EvalError, match=f"request 1 .GET. cannot .*more than {MAX_RECORDING_BYTES} b"
    ):
        recorded(library, lambda c: c.get("/"), library.MockTransport(handle))


def test_only_the_file_that_was_recorded_is_read(library, tmp_path):
    text = recorded(library, lambda c: c.get("/"), echo(library).transport)
    path = tmp_path / "001.http.json"
    path.write_text(text)
    sha256 = sha256_hex(text.encode())
    assert HttpRecording.read(Cassette(path=path, sha256=sha256)).exchanges[0].answer.status == 200
    path.write_text(text.replace("200", "201"))
    with pytest.raises(Unreadable, match="it was changed after it was recorded"):
        HttpRecording.read(Cassette(path=path, sha256=sha256))
    with path.open("wb") as file:
        file.truncate(MAX_RECORDING_BYTES + 1)
    with pytest.raises(Unreadable, match=f"at most {MAX_RECORDING_BYTES} are read"):
        HttpRecording.read(Cassette(path=path, sha256=sha256))


@pytest.mark.parametrize(
    "answer", [{}, {"status": 200, "error": "ReadError"}, {"status": 200, "base64": "*"}]
)
def test_an_answer_is_a_response_or_an_error(answer):
    request = {"method": "GET", "path": "/"}
    content = {"schema_version": 1, "exchanges": [{"request": request, "answer": answer}]}
    with pytest.raises(ValueError, match="answer"):
        HttpRecording.read_json(json.dumps(content).encode())


def test_another_library_is_refused():
    transport = Transport(Recording())
    with pytest.raises(EvalError, match="a request of 'types'; expected one of httpx or httpx2"):
        transport.handle_request(SimpleNamespace())


def test_a_recording_that_could_not_be_read_again_is_not_written(library, monkeypatch):
    """A zero byte takes six as JSON: what is sent fits, and what is written does not."""
    monkeypatch.setattr("benchgate.http.conversation.MAX_RECORDING_BYTES", 2**16)

    def handle(request):
        return library.Response(200, content=b"\0" * (2**16 // 5))

    with pytest.raises(EvalError, match=f"more than {MAX_RECORDING_BYTES} bytes in all"):
        recorded(library, lambda c: c.get("/"), library.MockTransport(handle))


def chat():
    """Return a service of chat completions that sends its first caller away, and what it was called with."""
    import httpx2

    calls = []

    def handle(request):
        calls.append(request)
        if len(calls) == 1:
            headers = {"retry-after-ms": "1"}
            return httpx2.Response(429, headers=headers, json={"error": {"message": "busy"}})
        if request.url.path == "/v1/messages":
            content = [{"type": "text", "text": "Bees."}]
            usage = {"input_tokens": 3, "output_tokens": 1}
            message = {"id": "m", "type": "message", "role": "assistant", "model": "m"}
            return httpx2.Response(
                200, json=message | {"content": content, "usage": usage, "stop_reason": "end_turn"}
            )
        if json.loads(request.content).get("stream"):
            parts = [{"choices": [{"index": 0, "delta": {"content": c}}]} for c in ("Be", "es.")]
            lines = [f"data: {json.dumps(p | {'id': 'c', 'model': 'm'})}\n\n" for p in parts]
            text = "".join(lines) + "data: [DONE]\n\n"
            headers = {"content-type": "text/event-stream"}
            return httpx2.Response(200, headers=headers, text=text)
        message = {"role": "assistant", "content": "Bees."}
        choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
        completion = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
        return httpx2.Response(200, json=completion | {"choices": choices})

    return SimpleNamespace(calls=calls, transport=httpx2.MockTransport(handle))


async def openai_says(transport, *, stream=False):
    openai = pytest.importorskip("openai")
    http = openai.DefaultAsyncHttpxClient(transport=transport)
    messages = [{"role": "user", "content": "Who dances?"}]
    async with openai.AsyncOpenAI(api_key=KEY, http_client=http) as client:
        got = await client.chat.completions.create(model="m", messages=messages, stream=stream)
        if stream:
            return "".join([part.choices[0].delta.content async for part in got])
        return got.choices[0].message.content


async def anthropic_says(transport):
    anthropic = pytest.importorskip("anthropic")
    http = anthropic.DefaultAsyncHttpxClient(transport=transport)
    messages = [{"role": "user", "content": "Who dances?"}]
    async with anthropic.AsyncAnthropic(api_key=KEY, http_client=http) as client:
        got = await client.messages.create(model="m", max_tokens=9, messages=messages)
        return got.content[0].text


@pytest.mark.slow
@pytest.mark.skipif("httpx2" not in INSTALLED, reason="needs httpx2")
@pytest.mark.parametrize(
    "says",
    [openai_says, lambda t: openai_says(t, stream=True), anthropic_says],
    ids=["openai", "openai-stream", "anthropic"],
)
def test_clients_of_providers_retry_alike_when_recorded_and_when_replayed(says):
    service, recording = chat(), Recording()
    assert asyncio.run(says(Transport(recording, service.transport))) == "Bees."
    assert len(service.calls) == 2
    text = recording.end(scored=True)
    assert KEY not in text
    conversation = replay(text)
    assert asyncio.run(says(Transport(conversation, service.transport))) == "Bees."
    assert len(service.calls) == 2
    conversation.end(scored=True)


def test_a_token_that_one_answer_brings_and_the_next_request_carries_is_found(library):
    def handle(request):
        answer = {"access_token": "fresh-token-1"} if request.url.path == "/login" else {}
        return library.Response(200, json=answer)

    def talk(client):
        token = client.post("/login").json()["access_token"]
        client.get("/", headers={"Authorization": f"Bearer {token}"})

    with pytest.raises(EvalError, match=r"request 1 .POST. .*in its answer the body has"):
        recorded(library, talk, library.MockTransport(handle))
