"""Runs the trials of a bench in a pool of processes."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial

import pytest

from benchgate.remote.worker import run_request


class Pool:
    def __init__(self, bench_root, processes):
        # Not fork: a copy of this process would have its threads' locks, and nobody to release them.
        context = multiprocessing.get_context("spawn")
        self._new = partial(ProcessPoolExecutor, processes, mp_context=context)
        self._pool = self._new()
        self._bench_root = bench_root

    def submit(self, request):
        try:
            return self._pool.submit(run_request, request, self._bench_root)
        except BrokenProcessPool:  # a process died, and took those of the others with it
            self._pool = self._new()
            return self._pool.submit(run_request, request, self._bench_root)

    def close(self):
        self._pool.shutdown(wait=False, cancel_futures=True)


@pytest.hookimpl(optionalhook=True)
def pytest_bench_executor(config):
    return Pool(config.rootpath / "bench", processes=4)
