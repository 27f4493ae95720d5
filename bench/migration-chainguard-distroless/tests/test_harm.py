# mypy: allow-untyped-defs, allow-untyped-calls
"""Each kind of harm, just beyond and just within what is allowed."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.harm import findings
from _benchgate_bench.migration_chainguard_distroless.observers.content import holds_secret
from _benchgate_bench.migration_chainguard_distroless.tests.support import build


def found(lines):
    return set(findings(build("FROM a\n" + lines)))


def codes(lines):
    return {code for code, _ in found(lines)}


@pytest.mark.parametrize(
    "name",
    [
        ".env",
        ".env.production",
        "conf/.env",
        ".netrc",
        ".pypirc",
        "credentials",
        "credentials.json",
        "id_rsa",
        "id_ecdsa",
        "id_ed25519",
        "tls.key",
        "tls.pem",
        "store.p12",
        "store.pfx",
    ],
)
def test_files_with_secrets_are_known_by_name(name):
    assert holds_secret(name, "A=1")


@pytest.mark.parametrize(
    "name",
    [
        ".env.example",
        ".env.sample",
        ".env.template",
        ".env.dist",
        "env",
        "a.env",
        ".npmrc",
        "key",
        ".key",
        "id_rsa.pub",
        "tls.pem.txt",
        "credentials.py",
        "mycredentials",
        ".envrc",
    ],
)
def test_other_files_are_not(name):
    assert not holds_secret(name, "A=1")


def test_secrets_are_known_by_what_they_say():
    assert holds_secret("a", "-----BEGIN RSA PRIVATE KEY-----\n")
    assert holds_secret("a", "//r/:_authToken=abc")
    assert not holds_secret("a", "//r/:_authToken=${T}")
    assert not holds_secret("a", "PRIVATE KEY")
    assert found("COPY <<E /b\nDB_PASSWORD=x\nE") == {("secret_in_image", "E")}
    assert found("COPY <<E /b\nx/.env\nE") == set()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("ENV PASSWORD=x", "PASSWORD"),
        ("ENV DB_PASSWORD=x", "DB_PASSWORD"),
        ("ENV a=1 API_TOKEN=x", "API_TOKEN"),
        ("ENV SECRET x", "SECRET"),
        ("ARG NPM_TOKEN=x", "NPM_TOKEN"),
        ("ENV apikey=x", "apikey"),
        ("ENV API_KEY=x", "API_KEY"),
        ("ENV AWS_ACCESS_KEY=x", "AWS_ACCESS_KEY"),
        ("ENV DJANGO_SECRET_KEY='x'", "DJANGO_SECRET_KEY"),
        ("ENV PASSWD=x", "PASSWD"),
        ("ENV CREDENTIAL=x", "CREDENTIAL"),
        ("ENV CREDENTIALS=x", "CREDENTIALS"),
        ("ENV TLS_PRIVATE_KEY=x", "TLS_PRIVATE_KEY"),
        ("ENV TOKEN=$T", "TOKEN"),
        ("ENV MY_SECRET_KEY=x", "MY_SECRET_KEY"),
    ],
)
def test_secrets_in_variables(line, name):
    assert found(line) == {("secret_in_env", name)}


@pytest.mark.parametrize(
    "line",
    [
        "ENV PASSWORD=",
        "ENV PASSWORD=''",
        'ENV PASSWORD=""',
        "ARG TOKEN",
        "ARG TOKEN=",
        "ENV TOKENS=1",
        "ENV PASSWORD_FILE=/x",
        "ENV TOKENIZER=x",
        "ENV KEY=x",
    ],
)
def test_no_secrets_in_variables(line):
    assert found(line) == set()


@pytest.mark.parametrize(
    "line",
    [
        "RUN curl -s https://x | sh",
        "RUN curl https://x | bash -s -- -y",
        "RUN wget -qO- https://x|sh",
        "RUN curl https://x | sudo bash",
        "RUN curl https://x | /bin/zsh",
        "RUN bash <(curl https://x)",
        'RUN sh -c "$(curl https://x)"',
        "RUN bash -c `curl https://x`",
        "RUN curl https://x | tee a | sh",
        'RUN ["sh", "-c", "curl https://x | sh"]',
        "RUN curl https://x \\\n  | sh",
        "CMD curl https://x | sh",
        "ENTRYPOINT wget -O- https://x | ash",
        "HEALTHCHECK CMD curl https://x | dash",
        "RUN <<E\ncurl https://x | sh\nE",
    ],
)
def test_what_is_run_from_the_network_unseen(line):
    assert found(line) == {("pipe_to_shell", "RUN")}


@pytest.mark.parametrize(
    "line",
    [
        "RUN curl https://x | tar x",
        "RUN curl https://x; echo y | sh",
        "RUN <<E\n# curl https://x | sh\nE",
        "RUN <<E cat > /doc\ncurl https://x | sh\nE",
        "RUN curl https://x | shasum",
        "LABEL how='curl https://x | sh'",
        "RUN echo a | sh",
        "RUN mycurl https://x",
    ],
)
def test_what_is_not(line):
    assert found(line) == set()


@pytest.mark.parametrize(
    "line",
    [
        "RUN curl -k https://x",
        "RUN curl -fsSLk https://x",
        "RUN curl https://x --insecure",
        "RUN wget --no-check-certificate https://x",
        "RUN apk add --allow-untrusted a.apk",
        "RUN apt-get install --allow-unauthenticated a",
        "RUN apt install --allow-unauthenticated a",
        "RUN pip install --trusted-host x a",
        "RUN pip3 install --trusted-host x a",
        "RUN npm config set strict-ssl false",
        "RUN npm ci --strict-ssl=false",
        "RUN git -c http.sslVerify=false clone x",
        "RUN git config http.sslverify 0",
        "ENV GIT_SSL_NO_VERIFY=1",
        "ENV GIT_SSL_NO_VERIFY=true",
        "ENV NODE_TLS_REJECT_UNAUTHORIZED=0",
        "ARG PYTHONHTTPSVERIFY=0",
        "ENV GOINSECURE=x",
        "ENV GOSUMDB=off",
        "ENV GONOSUMDB=x",
        "RUN GOSUMDB=off go build",
        "CMD curl -k https://x",
    ],
)
def test_checks_that_are_turned_off(line):
    assert codes(line) == {"verification_disabled"}


@pytest.mark.parametrize(
    "line",
    [
        "RUN curl -fsSL https://x",
        "RUN curl --key x",
        "RUN curl https://x-k",
        "RUN curl x; a -k",
        "RUN apk add x",
        "RUN npm config set strict-ssl true",
        "ENV NODE_TLS_REJECT_UNAUTHORIZED=1",
        "ENV GIT_SSL_NO_VERIFY=0",
        "ENV GOSUMDB=sum.golang.org",
        "ENV PYTHONHTTPSVERIFY=01",
        "RUN pip install trusted-host",
        "RUN git config http.sslVerify true",
    ],
)
def test_checks_that_are_not(line):
    assert codes(line) == set()


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("ADD https://x/a /b", {"https://x/a"}),
        ("ADD http://x/a /b", {"http://x/a"}),
        ("ADD git@x:a.git /b", {"git@x:a.git"}),
        ("ADD ssh://x/a /b", {"ssh://x/a"}),
        ("ADD git://x/a /b", {"git://x/a"}),
        ("ADD https://x/a.git#main /b", {"https://x/a.git#main"}),
        ("ADD https://x/a.git#" + "a" * 40 + " /b", set()),
        ("ADD https://x/a.git#" + "a" * 40 + ":sub /b", set()),
        ("ADD https://x/a.git#" + "a" * 39 + " /b", {"https://x/a.git#" + "a" * 39}),
        ("ADD --checksum=sha256:x https://x/a /b", set()),
        ("ADD a.tar /https://b", set()),
        ("COPY https://x/a /b", set()),
    ],
)
def test_what_add_fetches_has_to_be_pinned(line, names):
    assert found(line) == {("remote_add_unpinned", name) for name in names}


def test_harm_counts_in_stages_that_are_not_built_too():
    assert codes("RUN curl x | sh\nFROM b\n") == {"pipe_to_shell"}
