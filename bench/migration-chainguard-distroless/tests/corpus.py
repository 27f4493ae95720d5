"""Dockerfiles to read: hard ones, odd ones, and every one that ships or that a system returns."""

from __future__ import annotations

from functools import cache

from _benchgate_bench.migration_chainguard_distroless.project import DOCKERFILE
from _benchgate_bench.migration_chainguard_distroless.systems.stage_aware import StageAware
from _benchgate_bench.migration_chainguard_distroless.systems.table_converter import TableConverter
from _benchgate_bench.migration_chainguard_distroless.tests.support import CASES, best, given, load

HARD = {
    "heredocs": 'FROM a\nRUN <<-"PY" python\n\tUSER root\n\tFROM b\n\tPY\nRUN <<A cat && <<B cat\n1\nA\n2\nB\nUSER 7\n',
    "escape": "# escape=`\nFROM a\nRUN dir c:\\x `\n && echo\n",
    "continuations": 'from a\nrun x \\\n  # a comment\n  y \\\n\n  z\n# end\ncmd ["p", \\\n"q"]\n',
    "words": (
        'FROM --platform=$P a as b\nENV a b c\nENV a="b c" d=e\\ f g=\nCOPY --from=b --chown=1:1 ["x y", "z"]\n'
        "HEALTHCHECK --interval=3s CMD curl x || exit 1\nHEALTHCHECK NONE\nARG a b=c\nONBUILD USER root\n"
        "EXPOSE 80 443/udp\n"
    ),
    "bom and crlf": '\ufeffFROM a\r\nRUN b\r\nCMD ["c"]\r\n',
}
"""Valid files that are easily misread."""

ODD = [
    'CMD ["a",1]\n',
    "CMD\n",
    "ENV\n",
    "LABEL a\n",
    "",
    "RUN <<EOF\n",
    "RUN <<E<<F cat\nE\n",
    "HEALTHCHECK FOO x\n",
    "ONBUILD RUN <<E\nx\nE\n",
    "ONBUILD ONBUILD RUN x\n",
    "RUN --x='a b' c\n",
    "RUN -- x\n",
    "VOLUME []\n",
    "SHELL a\n",
    "#escape=x\nRUN a\n",
    "# escape=`\n# escape=`\nRUN a\n",
    "# foo=b\n# escape=`\nRUN a `\nb\n",
    " # escape=`\nRUN a `\n b\n",
    "RUN a\\\\\n b\n",
    "\\\nRUN x\n",
    'RUN <<"A B"\nx\nA B\n',
    "RUN <<E \\\n cat\nx\nE\n",
    "COPY <<E <<F /x/\n1\nE\n2\nF\n",
    "ENV a=b=c\n",
    "ENV a=b c\n",
    "ENV a\xa0b c\n",
    'CMD ["a\\ud800"]\n',
    "ADD <<E /x\n1\nE\n",
    "RUN x << E\nE\n",
    "RUN cat <<E\r\nx\r\nE\r\n",
    "RUN x # y\n  #z\nUSER 1\n",
    "CMD [null]\n",
    'CMD {"a":1}\n',
    "# syntax=a\n#escape=`\nRUN a`\nb\n",
    "ENV a=b\\",
    'RUN --a="b\n',
    "RUN --x='a\\'b c\n",
    'CMD ["a"] ["b"]\n',
    "CMD [NaN]\n",
    "HEALTHCHECK  CMD  a  b\n",
    "RUN echo ${a} <<E\nE\n",
    "RUN echo ${a <<E\nE\n",
    "# escape=\\\nRUN a \\\nb\n",
    "# ESCAPE=`\nRUN a `\nb\n",
    "ENV a=b\\\\\\\n",
    "ENV a='b\\\\\\\n",
    "WORKDIR --a=1\u2028b c\n",
    "WORKDIR --a=\u00e9 b\n",
    "WORKDIR --a=1 \xa0--b=2 c\n",
]
"""Files of one or two instructions, each with one thing that is easily misread, and that no other file here shows."""


@cache
def shipped() -> dict[str, str]:
    """Return every Dockerfile of the cases, of the best answers and of the systems."""
    found = {}
    for case_id in CASES:
        found[f"{case_id} input"] = given(case_id)[DOCKERFILE]
        found[f"{case_id} best"] = best(case_id)[DOCKERFILE]
        for system in (StageAware(), TableConverter()):
            found[f"{case_id} {system.name}"] = system(load(case_id))["files"][DOCKERFILE]
    return found
