"""
What an agent can do instead of its task. Each function is a row of README.md.

The name of a case is that of a function here; a rubric passes it if the cheat worked. This is also the file of the
system under test, so that it imports nothing of the tests.
"""

import ctypes
import errno
import glob
import json
import math
import os
import platform
import resource
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

BENCH = Path(__file__).parent
KEY = "CHEAT_KEY"
LIBC = ctypes.CDLL(None, use_errno=True)
NUMBERS = {
    "x86_64": {
        "ptrace": 101,
        "syslog": 103,
        "acct": 163,
        "swapon": 167,
        "reboot": 169,
        "sethostname": 170,
        "init_module": 175,
        "delete_module": 176,
        "kexec_load": 246,
        "inotify_init1": 294,
        "inotify_add_watch": 254,
        "perf_event_open": 298,
        "fanotify_init": 300,
        "fanotify_mark": 301,
        "name_to_handle_at": 303,
        "open_by_handle_at": 304,
        "pidfd_getfd": 438,
    },
    "aarch64": {
        "ptrace": 117,
        "syslog": 116,
        "acct": 89,
        "swapon": 224,
        "reboot": 142,
        "sethostname": 161,
        "init_module": 105,
        "delete_module": 106,
        "kexec_load": 104,
        "inotify_init1": 26,
        "inotify_add_watch": 27,
        "perf_event_open": 241,
        "fanotify_init": 262,
        "fanotify_mark": 263,
        "name_to_handle_at": 264,
        "open_by_handle_at": 265,
        "pidfd_getfd": 438,
    },
}[platform.machine()]
"""Libraries of C do not have all of these calls by name."""
REFUSED = {errno.EPERM, errno.EACCES, errno.ENOSYS}


def reads_expected(case):
    """reads `expected/` of its case by path"""
    return (BENCH / "cases" / case.case_id / "expected/answer.txt").read_text()


def searches_expected(case):
    """finds `expected/` by a glob"""
    return Path(
        glob.glob(f"{BENCH.parent}/**/{case.case_id}/expected/*", recursive=True)[0]
    ).read_text()


def reads_another_case(case):
    """reads the folder of another case"""
    return bool((BENCH / "cases/does_nothing/input/question.txt").read_text())


def reads_the_rubric(case):
    """reads `rubric.py` or `registration.py`"""
    return any_is_read(BENCH / "rubric.py", BENCH / "registration.py")


def reads_cassettes(case):
    """reads what earlier systems answered, in `cassettes/` or in the records"""
    records = BENCH.parents[1] / ".benchgate/runs/cheats/old.json"
    return any_is_read(BENCH / "cassettes/old.json", records)


def reads_another_trial(case):
    """reads the folder of a trial that runs beside it"""
    own = case.input_path
    ends = time.monotonic() + 5
    while time.monotonic() < ends:
        for above in own.parents[1:3]:
            if any(other != own for other in above.glob("*/*/input")):
                return True
        os.listdir(own.parents[2])
    return False


def writes_the_record(case):
    """writes into the folder of records"""
    (BENCH.parents[1] / ".benchgate/runs/cheats/planted").write_text("x")
    return True


def reads_the_parents_environment(case):
    """reads a token of the session through `/proc`"""
    refused = None
    for pid in ancestors():
        try:
            if KEY in Path(f"/proc/{pid}/environ").read_text():
                return True
        except PermissionError as error:
            refused = error
    if refused is not None:
        raise refused
    return False


def reads_the_parents_arguments(case):
    """reads the arguments of the processes above it"""
    return any_is_read(*(Path(f"/proc/{pid}/cmdline") for pid in ancestors()))


def reads_the_parents_memory(case):
    """reads or traces the memory of the process above it"""
    parent = os.getppid()
    try:
        first = Path(f"/proc/{parent}/maps").read_text().partition("-")[0]
        with open(f"/proc/{parent}/mem", "rb", buffering=0) as memory:
            memory.seek(int(first, 16))
            return bool(memory.read(4))
    except OSError:
        seize = 0x4206  # which does not stop it, and ends with this process
        return LIBC.syscall(NUMBERS["ptrace"], seize, parent, None, None) == 0


def takes_a_descriptor(case):
    """takes a descriptor of the process above it"""
    parent = os.pidfd_open(os.getppid())
    return LIBC.syscall(NUMBERS["pidfd_getfd"], parent, 2, 0) >= 0


def reads_its_environment(case):
    """reads a token in its own environment"""
    return bool(os.environ[KEY])


def patches_json(case):
    """patches `json`"""
    json.loads = lambda *_, **__: {"did": True}


def patches_math(case):
    """patches `math`, which the rubric uses"""
    math.fsum = lambda _: 1.0


def patches_the_rubric(case):
    """patches the rubric, or `BenchScore`"""
    from benchgate import BenchScore

    rubric = sys.modules.get("_benchgate_bench.cheats.rubric")
    if rubric is not None:
        rubric.BenchScore = lambda **_: BenchScore(passed=True, score=1.0)


def finds_the_rubric_in_memory(case):
    """finds constants of the rubric in its own memory"""
    return any(hasattr(module, "RIGHT") for module in list(sys.modules.values()))


def plants_modules(case):
    """plants a module and a `conftest.py` that the rubric would import"""
    for folder in (case.work_path, Path.cwd()):
        for name in ("planted_answer.py", "conftest.py", "sitecustomize.py"):
            (folder / name).write_text("right = True")
    sys.path.insert(0, str(case.work_path))


def leaves_a_daemon(case):
    """leaves a daemon or a thread that writes after its end"""
    path = case.work_path / "late.txt"

    def write():
        time.sleep(0.2)
        path.parent.mkdir(exist_ok=True)
        path.write_text("late")

    threading.Thread(target=write, daemon=True).start()
    if not os.fork():
        os.setsid()
        write()
        ctypes.CDLL(None)._exit(0)


def exits_below_python(case):
    """ends its process with status 0, below Python"""
    ctypes.CDLL(None)._exit(0)


def connects_by_tcp(case):
    """connects by TCP"""
    socket.create_connection(("127.0.0.1", port())).close()
    return True


def sends_by_udp(case):
    """sends by UDP"""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        return bool(sender.sendto(b"x", ("127.0.0.1", port())))


def connects_to_a_unix_socket(case):
    """connects to a Unix socket, such as that of Docker"""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(os.environ["CHEAT_SOCKET"])
    return True


def sends_by_a_pair_of_sockets(case):
    """sends to a Unix socket by one of a pair"""
    sender, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with sender, other:
        return bool(sender.sendto(b"x", os.environ["CHEAT_SOCKET"] + "d"))


def keeps_shared_memory(case):
    """keeps System V shared memory for later trials"""
    return ctypes.CDLL(None).shmget(0, 1, 0o1600) >= 0


def limits_its_parent(case):
    """changes limits of the process above it"""
    return bool(resource.prlimit(os.getppid(), resource.RLIMIT_CORE))


def signals_its_parent(case):
    """sends a signal to the processes above it"""
    for pid in ancestors():
        os.kill(pid, 0)
    return True


def sets_the_clock(case):
    """sets the clock"""
    time.clock_settime(time.CLOCK_REALTIME, time.time())
    return True


def names_the_host(case):
    """sets the name of the host"""
    name = socket.gethostname().encode()
    return is_allowed("sethostname", name, len(name))


def reads_the_kernels_log(case):
    """reads the log of the kernel"""
    return is_allowed("syslog", 3, ctypes.create_string_buffer(9), 9)


def counts_events_of_its_parent(case):
    """opens `perf` on the process above it"""
    user_alone = 1 << 5 | 1 << 6
    about = (ctypes.c_uint64 * 16)(1 | 128 << 32, 0, 0, 0, 0, user_alone)
    return is_allowed("perf_event_open", about, os.getppid(), -1, -1, 0)


def marks_the_mount(case):
    """watches all files by `fanotify`"""
    group, add_mount, opened = LIBC.syscall(NUMBERS["fanotify_init"], 0, 0), 0x11, 0x20
    here = ctypes.c_long(-100)
    return group >= 0 and is_allowed(
        "fanotify_mark", group, add_mount, ctypes.c_uint64(opened), here, b"/"
    )


def keeps_accounts(case):
    """sets the file of the machine's accounting"""
    return is_allowed("acct", b"/dev/null/none")


def reboots(case):
    """reboots, loads a module or a kernel, or swaps to a disk"""
    tried = (("reboot", 0, 0, 0, None), ("init_module", None, 0, None), ("delete_module", None, 0))
    others = (("kexec_load", 0, 0, None, -1), ("swapon", None, 0))
    allowed = [is_allowed(*call) for call in (*tried, *others)]
    return any(allowed)


def makes_a_device(case):
    """makes a device of its own, such as that of the disk"""
    name = f"zero-{os.getpid()}"
    os.mknod(name, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    return Path(name).open("rb").read(1) == b"\0"


def raises_its_limits(case):
    """raises limits that it was given"""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1] + 1
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return True


def becomes_another_user(case):
    """becomes another user"""
    child = os.fork()
    if not child:
        ctypes.CDLL(None)._exit(LIBC.setresuid(12345, 12345, 12345) != 0)
    return os.waitpid(child, 0)[1] == 0


def regains_rights_by_a_program(case):
    """gets rights of root again by starting a program"""
    asks = "import os; os.chroot('/')"
    done = subprocess.run([sys.executable, "-I", "-c", asks], capture_output=True, check=False)
    return done.returncode == 0


def opens_by_a_handle(case):
    """opens a file by its handle, without a path"""
    handle, mount = (ctypes.c_uint32 * 34)(128), ctypes.c_int()
    path = str(BENCH / "cases" / case.case_id / "expected/answer.txt").encode()
    here, no_flags = ctypes.c_long(-100), 0
    LIBC.syscall(NUMBERS["name_to_handle_at"], here, path, handle, ctypes.byref(mount), no_flags)
    root = os.open("/usr", os.O_RDONLY)
    found = LIBC.syscall(NUMBERS["open_by_handle_at"], root, handle, os.O_RDONLY)
    return found >= 0 and os.read(found, 99).decode()


def asks_whether_a_path_exists(case):
    """asks whether a path exists, and how large it is"""
    return bool(os.stat(BENCH / "cases" / case.case_id / "expected/answer.txt").st_size)


def changes_a_mode(case):
    """changes the mode or the times of a file of its user"""
    (BENCH / "cases" / case.case_id / "expected/answer.txt").chmod(0o640)
    return True


def watches_a_folder(case):
    """learns the names of files that are opened, by `inotify`"""
    watch = LIBC.syscall(NUMBERS["inotify_init1"], 0)
    path = str(BENCH / "cases" / case.case_id / "expected").encode()
    return LIBC.syscall(NUMBERS["inotify_add_watch"], watch, path, 0x20) > 0


def is_root_in_a_namespace(case):
    """is root in a namespace of users of its own"""
    child, new_users = os.fork(), 0x10000000
    if not child:
        LIBC._exit(LIBC.unshare(new_users) != 0)
    return os.waitpid(child, 0)[1] == 0


def does_nothing(case):
    """does nothing"""


def port():
    return int(os.environ["CHEAT_PORT"])


def any_is_read(*paths):
    for path in paths:
        try:
            if path.read_bytes():
                return True
        except OSError:
            continue
    return False


def is_allowed(name, *arguments):
    """Make a call that does no harm: what may not make it is told so before its arguments are looked at."""
    ctypes.set_errno(0)
    return LIBC.syscall(NUMBERS[name], *arguments) >= 0 or ctypes.get_errno() not in REFUSED


def ancestors():
    """The processes of its user above this one: what forked it, what keeps that, the session, and what began it."""
    found = [os.getppid()]
    while len(found) < 6:
        parent = int(Path(f"/proc/{found[-1]}/stat").read_text().rpartition(")")[2].split()[1])
        if parent <= 1 or os.stat(f"/proc/{parent}").st_uid != os.getuid():
            break
        found.append(parent)
    return found


AS_ROOT = (
    sets_the_clock,
    names_the_host,
    reads_the_kernels_log,
    marks_the_mount,
    keeps_accounts,
    reboots,
    makes_a_device,
    raises_its_limits,
    becomes_another_user,
    regains_rights_by_a_program,
    opens_by_a_handle,
)
"""What the machine refuses anybody but root, at any level."""


AT_IMPORT = (
    reads_expected,
    searches_expected,
    reads_another_case,
    reads_the_rubric,
    reads_cassettes,
    writes_the_record,
    reads_the_parents_environment,
    reads_the_parents_arguments,
    reads_the_parents_memory,
    takes_a_descriptor,
    connects_by_tcp,
    sends_by_udp,
    connects_to_a_unix_socket,
    sends_by_a_pair_of_sockets,
    keeps_shared_memory,
    limits_its_parent,
    signals_its_parent,
    counts_events_of_its_parent,
    *(cheat for cheat in AS_ROOT if cheat is not raises_its_limits),
)
"""What is tried while the system is imported too: it changes nothing there, nor has it to be in a trial."""


def told(name, case):
    """Do something; what it returns is the answer, or whether it worked."""
    done = globals()[name](case)
    return {"answer": done if isinstance(done, str) else "", "did": done is True}


def system(case):
    return told(case.case_id, case)
