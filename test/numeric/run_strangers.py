#!/usr/bin/env python3
"""Tests that processes without the job's token neither end nor join a job, and that nothing they say is believed or printed:
listeners that come before rank 0, connections that are idle, slow or senseless, relays, other jobs, processes of another user.
The ranks are on fake GPUs (test/runtime/fake).

    run_strangers.py [--only GLOB] [--every N] [--jobs N] [--connections N]
"""
import atexit
import collections
import contextlib
import functools
import os
import re
import resource
import selectors
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import pcc
from run_cuda import builder
from run_cuda_faults import PLANS, compile_mlp
from run_cuda_launch import GONE, Job, free_port

CASES = {}
CONNECTIONS = 10000
ESCAPE = "\x1b]0;owned\x07\x1b[31mred"
# The abstract name of a job under srun, without the random digits after it.
SRUN = "pcc-{uid}-slurm-{job}.0"


def frame(kind, text, version=1):
    """Returns a message of the protocol that pcc had before its messages were encrypted."""
    payload = text.encode()
    return b"PCCR" + struct.pack("<HHI", version, kind, len(payload)) + payload


LIES = {
    "nothing": b"",
    "text": f"HTTP/1.1 400 {ESCAPE}\r\n\r\n".encode(),
    "old refusal": frame(1, "challenge=" + "00" * 32 + "\n") + frame(4, f"code=3\nreason={ESCAPE}\nnote0={ESCAPE}\n"),
    "refusal": frame(4, f"code=3\nreason={ESCAPE}\n", version=2),
    "answer": b"PCCR" + struct.pack("<HH", 2, 2) + bytes(64) + struct.pack("<I", 40) + bytes(40),
    "zeros": bytes(1 << 20),
}


class Stranger:
    """A thread that serves sockets until the end of a `with`. `step` is called again and again."""

    def __enter__(self):
        self.is_over = False
        self.thread = threading.Thread(target=self.loop)
        self.thread.start()
        return self

    def loop(self):
        while not self.is_over:
            self.step()

    def __exit__(self, *_):
        self.is_over = True
        self.thread.join()


class Liar(Stranger):
    """Listens at an address and says `lie` to all who come."""

    def __init__(self, address, lie):
        self.lie, self.held, self.num_served = lie, [], 0
        if isinstance(address, tuple):
            self.listener = socket.create_server(address)
        else:
            self.listener = socket.socket(socket.AF_UNIX)
            self.listener.bind(address)
            self.listener.listen()
        self.listener.settimeout(0.02)

    def step(self):
        try:
            peer = self.listener.accept()[0]
        except TimeoutError:
            return
        peer.setblocking(False)
        self.held.append(peer)
        try:
            peer.send(self.lie)
        except OSError:
            pass
        self.num_served += 1

    def __exit__(self, *_):
        super().__exit__()
        for one in [self.listener, *self.held]:
            one.close()


class Relay(Stranger):
    """Listens at one port and passes all bytes on to another one."""

    def __init__(self, port, target):
        self.listener, self.target = socket.create_server(("127.0.0.1", port)), target
        self.waiting, self.pairs, self.num_passed = selectors.DefaultSelector(), {}, 0
        self.waiting.register(self.listener, selectors.EVENT_READ)

    def step(self):
        for key, _ in self.waiting.select(0.02):
            if key.fileobj is self.listener:
                self.accept()
            else:
                self.pass_on(key.fileobj)

    def accept(self):
        one = self.listener.accept()[0]
        try:
            other = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            return one.close()
        for own, peer in ((one, other), (other, one)):
            self.pairs[own] = peer
            self.waiting.register(own, selectors.EVENT_READ)

    def pass_on(self, own):
        try:
            data = own.recv(65536)
            self.pairs[own].sendall(data)
        except OSError:
            data = b""
        self.num_passed += len(data)
        if not data:
            for end in (own, self.pairs[own]):
                self.waiting.unregister(end)
                end.close()

    def __exit__(self, *_):
        super().__exit__()
        self.listener.close()


class Crowd(Stranger):
    """Keeps many connections to an address, of which each sends `said` and then a byte a second. With `is_restless`, always closes
    the oldest and makes new ones."""

    def __init__(self, address, count, said=b"", is_restless=False):
        self.address, self.count, self.said, self.is_restless = address, count, said, is_restless
        self.held, self.num_made, self.round = collections.deque(), 0, time.monotonic()

    def connect(self):
        one = socket.socket(socket.AF_INET if isinstance(self.address, tuple) else socket.AF_UNIX)
        one.setblocking(False)
        try:
            one.connect(self.address)
        except BlockingIOError:
            if one.family == socket.AF_UNIX:
                return one.close()
        except OSError:
            return one.close()
        self.num_made += 1
        self.held.append(one)
        self.say(one, self.said)

    def say(self, one, text):
        try:
            one.send(text)
        except OSError:
            pass

    def step(self):
        if self.is_restless and len(self.held) >= self.count:
            self.held.popleft().close()
        if len(self.held) < self.count:
            before = len(self.held)
            self.connect()
            if len(self.held) == before:
                time.sleep(0.001)
            return
        time.sleep(0.02)
        if self.said and time.monotonic() - self.round > 1:
            self.round = time.monotonic()
            for one in self.held:
                self.say(one, b"\x00")

    def __exit__(self, *_):
        super().__exit__()
        for one in self.held:
            one.close()


class OtherUser(Stranger):
    """A process of another user that takes names like those of a job and connects to all sockets of the job that it finds."""

    PROGRAM = """
import os, secrets, socket, sys
own, found, start = [], set(), sys.argv[1]
for name in [start] + [f"{start}-{secrets.token_hex(8)}" for _ in range(100)]:
    own.append(socket.socket(socket.AF_UNIX))
    own[-1].bind("\\0" + name)
    own[-1].listen()
print("ready", flush=True)
while True:
    with open("/proc/net/unix") as table:
        names = {line.split("@")[1].strip() for line in table if "@" + start in line}
    for name in names:
        one = socket.socket(socket.AF_UNIX)
        one.setblocking(False)
        try:
            one.connect("\\0" + name)
            one.send(b"PCCR")
            own.append(one)
        except OSError:
            pass
    del own[200:]
"""

    def __init__(self, start):
        self.process = subprocess.Popen([sys.executable, "-c", self.PROGRAM, start], user=65534, stdout=subprocess.PIPE)
        self.process.stdout.readline()

    def step(self):
        time.sleep(0.02)

    def __exit__(self, *_):
        super().__exit__()
        self.process.kill()
        self.process.communicate()


def check(job, codes=(0, 0), seconds=60):
    """Waits for a job. Checks exit codes, and that no rank has printed what strangers say."""
    got, took = job.wait(seconds, [rank for rank, code in enumerate(codes) if code is None])
    said = [job.said(rank, kind) for rank, code in enumerate(codes) if code is not None for kind in ("out", "err")]
    if got != list(codes):
        raise pcc.Failure(f"exit codes {got}, not {codes}: {said}")
    if any(re.search(r"[^\n\x20-\x7e]", text) or "owned" in text for text in said):
        raise pcc.Failure(f"ranks print what strangers say: {said}")
    return took


@functools.cache
def bundle_of_all():
    """Returns the bundle of two ranks that all cases run."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    return compile_mlp(folder, PLANS["pp"])


def job_of(folder, launcher, ranks=(0, 1), options=("--steps", "2")):
    bundle = bundle_of_all()
    return Job(folder, launcher, [bundle] * 2, list(options), ranks=ranks)


def case(name, *arguments):
    def add(function):
        def run():
            with tempfile.TemporaryDirectory() as folder:
                function(folder, *arguments)
        CASES[" ".join([name, *map(str, arguments)])] = run
        return function
    return add


def wait_until(is_true):
    until = time.monotonic() + 20
    while not is_true():
        if time.monotonic() > until:
            raise pcc.Failure("the stranger has met nobody")
        time.sleep(0.01)


def liar_before_rank_0(folder, lie):
    """Rank 1 meets a stranger, which keeps its port; rank 0 comes later."""
    port = int(free_port())
    job = job_of(folder, f"tcp://127.0.0.1:{port}", ranks=[1])
    with Liar(("127.0.0.1", port), LIES[lie]) as liar:
        wait_until(lambda: liar.num_served > 2)
        job.start(0)
        check(job)


def liar_for_ever(folder, lie):
    """Rank 0 never comes. Rank 1 waits until its deadline."""
    port = int(free_port())
    job = job_of(folder, f"tcp://127.0.0.1:{port}", ranks=[1], options=["--load-timeout", "1"])
    with Liar(("127.0.0.1", port), LIES[lie]):
        check(job, [None, 14], seconds=3 + GONE)
    said = job.said(1)
    stranger = "a process that does not know the job's token answered there"
    text = "the process that listens there does not answer" if lie == "nothing" else stranger
    if not re.search(f"pcc: error: .* rank 0 was not found at .*: {text}", said) or ("note: rank 1 looks for rank 0" in said) != (text == stranger):
        raise pcc.Failure(f"rank 1 says {said}")


for kind in LIES:
    case("liar before rank 0", kind)(liar_before_rank_0)
    case("liar for ever", kind)(liar_for_ever)


@case("liar in the place of a socket", "unix:FOLDER/meet")
@case("liar in the place of a socket", "srun")
def liar_at_a_socket(folder, launcher):
    job = job_of(folder, launcher.replace("FOLDER", folder), ranks=[])
    address = "\0" + SRUN.format(uid=os.geteuid(), job=job.number) if launcher == "srun" else os.path.join(folder, "meet")
    # A stranger of the same user may also choose a name like that of rank 0.
    with Liar(address, LIES["refusal"]), Liar(address + "-0123456789abcdef", LIES["refusal"]) as liar:
        job.start(1)
        wait_until(lambda: liar.num_served > 0)
        job.start(0)
        check(job)


@case("many liars in the place of a socket")
def many_liars(folder):
    """Silent sockets of the same user, with names as that of rank 0."""
    job = job_of(folder, "srun", ranks=[])
    name = "\0" + SRUN.format(uid=os.geteuid(), job=job.number)
    with contextlib.ExitStack() as stack:
        for number in range(300):
            one = stack.enter_context(socket.socket(socket.AF_UNIX))
            one.bind(f"{name}-{number:016x}")
            one.listen()
        job.start(1)
        time.sleep(0.5)
        job.start(0)
        check(job)


@case("another token")
def another_token(folder):
    port = int(free_port())
    job = job_of(folder, f"tcp://127.0.0.1:{port}", ranks=[0], options=["--load-timeout", "2"])
    job.token["PCC_JOB_TOKEN"] = "0123456789abcdef" * 2
    job.start(1)
    check(job, [14, 14])
    if "with another PCC_JOB_TOKEN" not in job.said(1) or "because it did not know the job's token" not in job.said(0):
        raise pcc.Failure(f"ranks say {job.said(0)}{job.said(1)}")


@case("few files")
def few_files(folder):
    """Rank 0 may open few files, and strangers take none of them from it."""
    port = int(free_port())
    job = job_of(folder, f"tcp://127.0.0.1:{port}", ranks=[0])
    resource.prlimit(job.ranks[0].pid, resource.RLIMIT_NOFILE, (120, 120))
    with Crowd(find_rank_0(job, port), 1000, b"") as many:
        wait_until(lambda: many.num_made >= 1000)
        job.start(1)
        check(job)


@case("another user")
def another_user(folder):
    if os.geteuid() != 0:
        return
    job = job_of(folder, "srun", ranks=[])
    with OtherUser(SRUN.format(uid=0, job=job.number)):
        job.start(1)
        job.start(0)
        check(job)


@case("relay between ranks")
def relay(folder):
    """A process that stands between two ranks could end their connection. They refuse it."""
    port = int(free_port())
    job = job_of(folder, f"tcp://127.0.0.1:{port}", ranks=[])
    with Relay(port, port + 1) as between:
        job.start(1)
        job.start(0)
        check(job)
    if between.num_passed == 0:
        raise pcc.Failure("the relay has met nobody")


@case("knock of another connection")
def repeated_knock(folder):
    """Bytes that rank 1 has sent to a stranger do not admit the stranger to rank 0."""
    port = int(free_port())
    job = job_of(folder, f"tcp://127.0.0.1:{port}", ranks=[1], options=["--load-timeout", "10"])
    with Liar(("127.0.0.1", port), b"") as liar:
        wait_until(lambda: liar.num_served > 2)
        time.sleep(0.1)
        recorded = [one.recv(4096) for one in liar.held]
    if not all(len(text) == 72 for text in recorded):
        raise pcc.Failure(f"rank 1 sends {recorded}")
    job.ranks[1].kill()
    job.ranks[1].wait()
    job.start(0)
    wait_until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0)
    for text in recorded:
        with socket.create_connection(("127.0.0.1", port)) as one:
            one.sendall(text)
            answer = one.recv(4096)
            if len(answer) != 72:
                raise pcc.Failure(f"rank 0 answers {answer}")
            one.sendall(answer + bytes(200))
            if one.recv(4096) != b"":
                raise pcc.Failure("rank 0 answers again")
    job.start(1)
    check(job)


@case("jobs at one address")
def jobs_at_one_address(folder):
    port = free_port()
    jobs = [job_of(folder, f"tcp://127.0.0.1:{port}", ranks=[])]
    os.mkdir(second := os.path.join(folder, "second"))
    jobs.append(job_of(second, f"tcp://127.0.0.1:{port}", ranks=[]))
    for rank in (0, 1):
        for job in jobs:
            job.start(rank)
    for job in jobs:
        check(job)


SAID = {"idle": b"", "restless": b"", "slow": b"P", "senseless": b"GET / HTTP/1.1\r\n\r\n", "oversized": b"PCCR\x02\x00\x01\x00" + b"\xff" * 4096}


def crowd(folder, launcher, said):
    """Many connections to rank 0 delay a job by a small time only, which is printed."""
    port = int(free_port())
    job_of(folder, f"tcp://127.0.0.1:{free_port()}").wait()
    begin = time.monotonic()
    check(job_of(folder, launcher.replace("PORT", str(free_port()))))
    alone = time.monotonic() - begin
    job = job_of(folder, launcher.replace("PORT", str(port)), ranks=[0])
    with Crowd(find_rank_0(job, port), CONNECTIONS, SAID[said], said == "restless") as many:
        wait_until(lambda: many.num_made >= CONNECTIONS)
        begin = time.monotonic()
        job.start(1)
        check(job)
        print(f"{CONNECTIONS} {said} connections, {launcher}: {time.monotonic() - begin:.2f} s, without them {alone:.2f} s", flush=True)


def find_rank_0(job, port):
    """Waits until rank 0 listens, and returns its address."""
    start = SRUN.format(uid=os.geteuid(), job=job.number)
    found = []

    def is_there():
        if job.launcher != "srun":
            with socket.socket() as one:
                return one.connect_ex(("127.0.0.1", port)) == 0
        with open("/proc/net/unix") as table:
            found.extend("\0" + line.split("@")[1].strip() for line in table if "@" + start in line)
        return found
    wait_until(is_there)
    return found[0] if found else ("127.0.0.1", port)


for kind in SAID:
    case("crowd", "tcp://127.0.0.1:PORT", kind)(crowd)
case("crowd", "srun", "idle")(crowd)

def inodes_of(text):
    """Returns the sockets of all processes whose command line has `text`."""
    inodes = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline") as file:
                if text in file.read():
                    inodes |= {re.sub(r"\D", "", os.readlink(f"/proc/{pid}/fd/{fd}")) for fd in os.listdir(f"/proc/{pid}/fd")}
        except OSError:
            pass
    return inodes


class PortFinder(Stranger):
    """Connects to every TCP port at which a process of a job listens, and sends nothing."""

    def __init__(self, bundle):
        self.bundle, self.known, self.held = bundle, set(), []

    def step(self):
        inodes = inodes_of(self.bundle)
        for path in ("/proc/net/tcp", "/proc/net/tcp6"):
            with open(path) as table:
                rows = [line.split() for line in table]
            for row in rows:
                if row[3] == "0A" and row[9] in inodes - self.known:
                    self.known.add(row[9])
                    self.connect(int(row[1].split(":")[1], 16))

    def connect(self, port):
        try:
            self.held.append(socket.create_connection(("127.0.0.1", port), timeout=1))
        except OSError:
            pass

    def __exit__(self, *_):
        super().__exit__()
        for one in self.held:
            one.close()


@case("ports of mpirun")
def ports_of_mpirun(folder):
    """A silent connection to a port of mpirun would stop the job for ever: nobody can connect. Needs a kernel that permits this."""
    if all(subprocess.run(["unshare", option, "true"], stderr=subprocess.DEVNULL).returncode for option in ("-n", "-rn")):
        return
    path, bundle = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.pcc")
    builder.build("mlp", path, layers=2)
    pcc.succeed(path, "-o", bundle, "--dim", "batch=8", "--tp", "2")
    with PortFinder(bundle) as finder:
        pcc.succeed("run", bundle, "--random-inputs", "1", "-q", timeout=60)
    if finder.held:
        raise pcc.Failure(f"{len(finder.held)} connections were possible")


if __name__ == "__main__":
    if "--connections" in sys.argv:
        at = sys.argv.index("--connections")
        CONNECTIONS = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    CONNECTIONS = min(CONNECTIONS, limit - 200)
    pcc.main(__doc__, CASES)
