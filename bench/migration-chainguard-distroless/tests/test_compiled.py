# mypy: allow-untyped-defs, allow-untyped-calls
"""Programs that need a loader, and programs for another platform."""

import pytest
from _benchgate_bench.migration_chainguard_distroless.image.compiled import link_problems
from _benchgate_bench.migration_chainguard_distroless.image.files import Files
from _benchgate_bench.migration_chainguard_distroless.tests.support import FREE, build

NET = 'package main\n\nimport "net/http"\n'
PURE = 'package main\n\nimport "fmt"\n'


def problems(run, base=f"{FREE}/static", source=NET, head="", more=""):
    built = build(
        f"FROM {head}{FREE}/go:latest-dev AS b\n{run}\nFROM {base}\nCOPY --from=b /o /o\n{more}"
    )
    return list(link_problems(built.final, Files(built, {"main.go": source} if source else {})))


@pytest.mark.parametrize(
    ("run", "fine"),
    [
        ("RUN go build -o /o", False),
        ("RUN CGO_ENABLED=0 go build -o /o", True),
        ("RUN CGO_ENABLED=1 go build -o /o", False),
        ("ENV CGO_ENABLED=0\nRUN go build -o /o", True),
        ("ARG CGO_ENABLED=0\nRUN go build -o /o", True),
        ("RUN export CGO_ENABLED=0 && go build -o /o", True),
        ("RUN CGO_ENABLED=0; go build -o /o", True),
        ("RUN export CGO_ENABLED=0\nRUN go build -o /o", False),
        ("RUN CGO_ENABLED=0 go vet && go build -o /o", False),
        ("RUN env CGO_ENABLED=0 go build -o /o", True),
        ("RUN go build -ldflags '-extldflags -static' -o /o", True),
        ("RUN go build -tags netgo,osusergo -o /o", True),
        ("RUN go build -tags netgo -o /o", False),
        ("RUN go build -tags=osusergo,netgo -o /o", True),
        ("RUN go vet", True),
        ("RUN go install .", False),
        ("RUN <<E\nexport CGO_ENABLED=0\ngo build -o /o\nE", True),
    ],
)
def test_static_needs_a_program_without_a_loader(run, fine):
    assert problems(run) == (
        [] if fine else ["the program of go needs a loader that static does not have"]
    )
    assert (problems(run, "scratch") == []) is fine
    assert problems(run, f"{FREE}/glibc-dynamic") == []


def test_only_what_uses_the_c_library_is_linked_with_it():
    assert problems("RUN go build -o /o", source=PURE) == []
    assert problems("RUN go build -o /o", source='import "os/user"\n') != []
    assert problems("RUN go build -o /o", source='import "C"\n') != []
    assert problems("RUN go build -o /o", source="") != []


@pytest.mark.parametrize(
    "line", ["COPY --from=b /lib64/ld-linux-x86-64.so.2 /lib64/", "COPY --from=b /lib /lib"]
)
def test_a_loader_may_be_brought_along(line):
    assert problems("RUN go build -o /o", "scratch", more=line) == []


@pytest.mark.parametrize("line", ["ENV L=/lib64", "WORKDIR /lib", "CMD ld-linux", "RUN ls /lib"])
def test_a_loader_is_not_brought_by_naming_it(line):
    assert problems("RUN go build -o /o", more=line) != []


@pytest.mark.parametrize(
    ("run", "fine"),
    [
        ("ARG TARGETARCH\nRUN CGO_ENABLED=0 GOARCH=$TARGETARCH go build -o /o", True),
        ("RUN CGO_ENABLED=0 go build -o /o", False),
        ("RUN CGO_ENABLED=0 GOARCH=$TARGETARCH go build -o /o", True),
        ("ENV GOARCH=arm64\nRUN CGO_ENABLED=0 go build -o /o", True),
    ],
)
def test_a_cross_build_is_told_its_platform(run, fine):
    for platform in ("$BUILDPLATFORM", "${BUILDPLATFORM}"):
        found = problems(run, head=f"--platform={platform} ")
        assert found == ([] if fine else ["the program of go is built for the builder's platform"])
    assert problems(run) == []


@pytest.mark.parametrize(
    ("run", "fine"),
    [
        ("RUN cargo build --release", False),
        ("RUN cargo build --target x86_64-unknown-linux-musl", True),
        ("ENV RUSTFLAGS='-C target-feature=+crt-static'\nRUN cargo build", True),
        ("RUN cargo fetch", True),
        ("ENV CARGO_BUILD_TARGET=x86_64-unknown-linux-musl\nRUN cargo build", True),
        ("RUN gcc -o /o a.c", False),
        ("RUN gcc -static -o /o a.c", True),
        ("RUN gcc -c -o /o.o a.c", True),
        ("RUN cc -shared -o /o.so a.c", True),
        ("RUN g++ -o /o a.cc", False),
        ("RUN gcc --version", True),
    ],
)
def test_other_compilers_link_dynamically_too(run, fine):
    assert (problems(run) == []) is fine
    assert problems(run, f"{FREE}/glibc-dynamic") == []
