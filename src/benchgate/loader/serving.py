"""What a class serves to its systems: a server on this machine, which lasts as long as a run."""

from __future__ import annotations

from contextlib import ExitStack
from functools import reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from benchgate.errors import EvalError
from benchgate.loader.imports import module_name
from benchgate.loader.systems import is_address

if TYPE_CHECKING:
    from collections.abc import Collection

    from benchgate.loader.systems import NamedSystem
    from benchgate.registry import TaskClass

LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
"""Hosts of a server that no other machine reaches."""


class Serving:
    """
    The server of a class, from here until :meth:`close`.

    :raises EvalError: it cannot be started, or is no server of this machine.
    """

    def __init__(self, task_class: TaskClass, serves: str) -> None:
        module, _, attribute = serves.partition(":")
        with ExitStack() as stack:
            try:
                found = import_module(module_name(task_class.name, module))
                serve: Any = reduce(getattr, attribute.split("."), found)
                address = stack.enter_context(serve())
                host = urlsplit(address).hostname
            except (Exception, SystemExit) as error:  # a module may also call sys.exit
                why = f"{type(error).__name__}: {error}"
                raise EvalError(f"class {task_class.name}: {serves} cannot serve: {why}") from error
            if host not in LOOPBACK:
                why = f"expected an address of this machine, such as http://127.0.0.1:8080; found {address!r}"
                raise EvalError(f"class {task_class.name}: {serves} cannot serve: {why}")
            self._address = address.rstrip("/")
            self._exit = stack.pop_all()

    def address(self, case_id: str) -> str:
        """Return the address of a case."""
        return f"{self._address}/{case_id}/"

    def close(self) -> None:
        """End the server."""
        self._exit.close()


def served(
    task_class: TaskClass, systems: Collection[NamedSystem], *, is_elsewhere: bool
) -> Serving | None:
    """
    Start what a class serves, if one of the systems that a run calls may use it.

    :param is_elsewhere: whether their trials run on other machines, which do not reach this one's loopback.
    :raises EvalError: it cannot be started; or a system that needs it would not get it.
    """
    for system in systems:
        why = _hindrance(task_class, system, is_elsewhere)
        if why is not None and system.needs_served:
            raise EvalError(f"system {system.name} needs what its class serves: {why}")
    is_asked_for = any(system.network for system in systems)
    if task_class.serves is None or is_elsewhere or not is_asked_for:
        return None
    return Serving(task_class, task_class.serves)


def _hindrance(task_class: TaskClass, system: NamedSystem, is_elsewhere: bool) -> str | None:
    """Return why a system gets no address; ``None`` if it gets one."""
    if task_class.serves is None:
        return f"class {task_class.name} has no serves= in its registration"
    if is_elsewhere:
        return "the server is on this machine, and the workers of --bench-executor are not"
    if system.network:
        return None
    if is_address(system.name):
        return "it is granted no network; gate.toml grants it: [run] network = true"
    return "it is granted no network; its registration grants it: 'network': True beside its 'call'"
