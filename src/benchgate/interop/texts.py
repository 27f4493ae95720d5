"""Reads a log once more for what a person wants to read: the questions and the answers of a few cases."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from benchgate.errors import Unreadable
from benchgate.interop.rows import read
from benchgate.models.texts import LogTexts, Said

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from benchgate.interop.log import Samples


def texts_of(log: Samples, case_ids: AbstractSet[str], **reading: Any) -> LogTexts:
    """
    Return the texts of some cases of a log that was read.

    :param reading: how it was read, as :func:`benchgate.interop.read` takes it.
    :raises Unreadable: it is another file by now. :raises EvalError: it cannot be read.
    """
    again = read(log.path, shown=case_ids, **reading)
    if again.sha256 != log.sha256:
        raise Unreadable(log.path, "changed since it was judged")
    trials: dict[str, list[Said]] = defaultdict(list)
    for sample in again.samples:
        if sample.texts is not None:
            trials[sample.case_id].append(Said(*sample.texts))
    fields = {role: name for role, name, _ in again.fields}
    return LogTexts(trials, fields.get("input", ""), fields.get("answer", ""))
