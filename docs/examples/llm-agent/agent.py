"""An agent that reads fields out of short texts: one prompt, one model, one request for each text."""

from functools import cache
from pathlib import Path

from openai import APIConnectionError, AsyncOpenAI, InternalServerError, RateLimitError

USD_PER_TOKEN = 0.4e-6, 1.6e-6  # in, out


@cache
def client() -> AsyncOpenAI:
    return AsyncOpenAI()  # OPENAI_BASE_URL and OPENAI_API_KEY say where and who


def agent(version):
    prompt = Path(__file__).with_name(f"prompt-{version}.txt").read_text()

    async def extract(case):
        text = (case.input_path / "text.txt").read_text()
        answer = await client().chat.completions.create(
            model="small-1",
            messages=[{"role": "system", "content": prompt}, {"role": "user", "content": text}],
        )
        tokens = answer.usage.prompt_tokens, answer.usage.completion_tokens
        cost = sum(price * n for price, n in zip(USD_PER_TOKEN, tokens))
        usage = {"cost_usd": cost, "tokens_in": tokens[0], "tokens_out": tokens[1], "calls": 1}
        return {"text": answer.choices[0].message.content, "usage": usage | {"model": answer.model}}

    extract.unavailable = (RateLimitError, APIConnectionError, InternalServerError)
    return extract
