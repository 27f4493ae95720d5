"""
Stands in for a provider on this machine: ``POST /v1/chat/completions``, answered from ``answers.json``.

``python server.py start`` serves in the background and writes its address to ``server.url``; ``python server.py stop``
ends it. An answer takes 50 to 300 ms, the same for a text each time. Every second time that some of the texts are asked
for, the server is busy (429 with Retry-After) or hangs up, so that whoever asks again gets an answer.
"""

import asyncio
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

HERE = Path(__file__).parent
URL, LOG = HERE / "server.url", HERE / "server.log"
IDLE = 900  # seconds without a request after which the server ends by itself
ANSWERS = {
    (version, each["text"]): each[version]
    for each in json.loads((HERE / "answers.json").read_text(encoding="utf-8"))
    for version in ("v1", "v2")
}
asked: Counter[str] = Counter()


def completion(body):
    """Return status, headers and content of an answer, and how many seconds it takes; no status hangs up."""
    prompt, text = (message["content"].strip() for message in body["messages"])
    version = "v2" if "YYYY-MM-DD" in prompt else "v1"
    draw = hashlib.sha256(text.encode()).digest()
    asked[version + text] += 1
    if asked[version + text] % 2:
        if draw[0] % 8 == 0:
            busy = {"error": {"message": "too many requests", "type": "rate_limit_error"}}
            return 429, {"Retry-After": "0.2"}, busy, 0.01
        if draw[0] % 8 == 1:
            return None, {}, {}, 0.02
    answer = ANSWERS.get((version, text), "I have no answer to that.")
    tokens = len(prompt + text) // 4, len(answer) // 4
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    choice = {"index": 0, "finish_reason": "stop"}
    choice["message"] = {"role": "assistant", "content": answer}
    content = {
        "id": f"chatcmpl-{draw.hex()[:12]}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": body["model"],
        "choices": [choice],
        "usage": dict(zip(names, (*tokens, sum(tokens)), strict=True)),
    }
    return 200, {}, content, 0.05 + draw[1] / 1020


async def serve():
    """Serve until nobody has asked for long."""
    last = time.monotonic()

    async def connected(reader, writer):
        nonlocal last
        try:
            while head := (await reader.readuntil(b"\r\n\r\n")).decode().splitlines():
                last = time.monotonic()
                length = next(x for x in head if x.lower().startswith("content-length:"))
                body = await reader.readexactly(int(length.partition(":")[2]))
                if head[0].split()[:2] == ["POST", "/v1/chat/completions"]:
                    status, headers, content, seconds = completion(json.loads(body))
                else:
                    status, headers, content, seconds = 404, {}, {"error": "not found"}, 0
                await asyncio.sleep(seconds)
                if status is None:
                    break
                data = json.dumps(content).encode()
                headers |= {"Content-Type": "application/json", "Content-Length": len(data)}
                lines = [f"HTTP/1.1 {status} -", *(f"{k}: {v}" for k, v in headers.items())]
                writer.write("\r\n".join([*lines, "", ""]).encode() + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0, backlog=512)
    port = server.sockets[0].getsockname()[1]
    part = URL.with_suffix(".part")
    part.write_text(f"http://127.0.0.1:{port}/v1\n{os.getpid()}\n")
    part.rename(URL)
    while time.monotonic() - last < IDLE:
        await asyncio.sleep(1)


def start():
    URL.unlink(missing_ok=True)
    with LOG.open("w") as log:
        subprocess.Popen([sys.executable, __file__], stdout=log, stderr=log, start_new_session=True)
    while not URL.exists():
        time.sleep(0.02)
    print("serving at", URL.read_text().split()[0])


def stop():
    os.kill(int(URL.read_text().split()[1]), signal.SIGTERM)
    URL.unlink()
    print("stopped")


if __name__ == "__main__":
    command = sys.argv[1] if len(sys.argv) > 1 else "serve"
    {"serve": lambda: asyncio.run(serve()), "start": start, "stop": stop}[command]()
