"""The attacks of hostile submissions, as tables of short programs.

A program prints `taken` when it has reached its target. It runs with these names: AUTOGRADER, the
staff's folder; GRADEBOOK, a database; OTHER, another student's file; HOST, a folder of the
grader's; PORT, on which a program listens on the grader's machine; ABSTRACT, the same with a socket
without a file; SECRET, a variable in the grader's environment.
"""

import sys

CALLS = """
import ctypes, platform
libc = ctypes.CDLL(None, use_errno=True)
def call(x86, arm, *arguments):
    number = {"x86_64": x86, "aarch64": arm}[platform.machine()]
    return libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
"""

# Attacks that succeed in a plain process of the grader: name -> (target, program).
READS = {
    "passwd": ("the machine's users", "open('/etc/passwd').read(); print('taken')"),
    "answers": ("the reference answers", """
import pathlib
if list(pathlib.Path(AUTOGRADER, "studies").rglob("*.py")): print("taken")"""),
    "hidden cases": ("the hidden positions", """
import pathlib
if list(pathlib.Path(AUTOGRADER, "studies").rglob("hidden_cases.toml")): print("taken")"""),
    "staff import": ("the staff's package, as a module", """
import autograder.studies.hidden_cases
print("taken")"""),
    "gradebook": ("marks, for reading", "open(GRADEBOOK, 'rb').read(); print('taken')"),
    "gradebook edit": ("marks, for writing", """
import sqlite3
with sqlite3.connect(f"file:{GRADEBOOK}?mode=rw", uri=True) as book:
    book.execute("update grade set score = score"); print("taken")"""),
    "other student": ("another student's work", "open(OTHER).read(); print('taken')"),
    "find": ("anything of the grader's, by walking all folders", """
import os
for folder, _, files in os.walk(os.path.dirname(HOST)):
    if "other.py" in files: print("taken")"""),
    "environment": ("the grader's environment variables", """
import os
if SECRET in os.environ: print("taken")"""),
    "proc environ": ("the environment of any process", """
import glob
for path in glob.glob("/proc/[0-9]*/environ"):
    try: data = open(path, "rb").read()
    except OSError: continue
    if SECRET.encode() in data: print("taken"); break"""),
    "proc": ("the list of processes", """
import os
if any(name.isdigit() for name in os.listdir("/proc")): print("taken")"""),
    "maps": ("its own memory map", "open('/proc/self/maps').read(); print('taken')"),
    "memory": ("memory as a file", "open('/proc/self/mem', 'r+b'); print('taken')"),
    "loopback": ("a service on the grader's machine", """
import socket
socket.create_connection(("127.0.0.1", PORT), 1); print("taken")"""),
    "vsock": ("a socket of the machine's host", """
import socket
socket.socket(socket.AF_VSOCK); print("taken")"""),
    "netlink": ("the kernel's own sockets", """
import socket
socket.socket(socket.AF_NETLINK, socket.SOCK_RAW); print("taken")"""),
    "abstract": ("a socket that has no file", """
import socket
socket.socket(socket.AF_UNIX).connect("\\0" + ABSTRACT); print("taken")"""),
    "ptrace": ("being traced, and so tracing", CALLS + """
if libc.ptrace(0, 0, 0, 0) == 0: print("taken")"""),
    "unshare": ("a namespace in which it is root", CALLS + """
if libc.unshare(0x10000000) == 0: print("taken")"""),
    "clone": ("the same by clone", CALLS + """
import os, signal
pid = call(56, 220, 0x10000000 | signal.SIGCHLD, 0, 0, 0, 0)
if pid == 0: os._exit(0)
if pid > 0: print("taken")"""),
    "keyctl": ("the keys of the session", CALLS + """
if call(250, 219, 0, -3, 1) > 0: print("taken")"""),
    "memfd": ("memory that is a file", "import os; os.memfd_create('x'); print('taken')"),
    "peek": ("memory of another process", CALLS + """
import os
word = ctypes.create_string_buffer(8)
class Part(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]
part = Part(ctypes.addressof(word), 8)
if libc.process_vm_readv(os.getpid(), ctypes.byref(part), 1, ctypes.byref(part), 1, 0) == 8:
    print("taken")"""),
    "bounding set": ("a capability that a program could gain", CALLS + """
if libc.prctl(23, 21, 0, 0, 0) == 1: print("taken")"""),
    "setuid programs": ("a program that runs as root", CALLS + """
if libc.prctl(39, 0, 0, 0, 0) == 0: print("taken")"""),
    "root": ("being root", "import os; os.getuid() and os.setuid(0); print('taken')"),
    "shared memory": ("memory that counts for no process", """
import mmap
mmap.mmap(-1, 1 << 20)[0] = 1; print("taken")"""),
    "core limit": ("a higher limit", """
import resource
resource.setrlimit(resource.RLIMIT_NPROC, (9999, 9999)); print("taken")"""),
}  # fmt: skip

# Attacks that must not be run successfully on any real machine.
TRIES = {
    "shadow": ("the passwords", "open('/etc/shadow').read(); print('taken')"),
    "own python": ("changing the interpreter's packages", """
import numpy
open(numpy.__file__, "a").write("x"); print("taken")"""),
    "own kit": ("changing what runs next to it", """
import glob
for path in glob.glob("/kit/inside/*.py"): open(path, "a"); print("taken")"""),
    "lasting places": ("a file that the next one finds", """
import os
for folder, names, _ in os.walk("/"):
    names[:] = [n for n in names if os.path.join(folder, n) not in ("/dev/shm", "/tmp", "/usr")]
    try: open(f"{folder}/left", "w"); print("taken")
    except OSError: continue"""),
    "links of the tree": ("the path to what runs next to it", """
import os
for name in os.listdir("/"):
    try: os.rename(f"/{name}", f"/{name}.away"); print("taken")
    except OSError: continue"""),
    "programs": ("changing programs", "open('/usr/bin/env', 'r+b'); print('taken')"),
    "remount": ("making the tree writable", CALLS + """
if libc.mount(None, b"/", None, 32 | 4096, None) == 0: print("taken")"""),
    "mount proc": ("getting /proc back", CALLS + """
if libc.mount(b"proc", b"/tmp", b"proc", 0, None) == 0: print("taken")"""),
    "umount": ("taking the cover off /proc", CALLS + """
if libc.umount2(b"/proc", 2) == 0: print("taken")"""),
    "chroot": ("another root", CALLS + """
if libc.chroot(b"/tmp") == 0: print("taken")"""),
    "io_uring": ("calls that no filter sees", CALLS + """
if call(425, 425, 1, ctypes.addressof(ctypes.create_string_buffer(256))) >= 0: print("taken")"""),
    "bpf": ("code in the kernel", CALLS + """
if call(321, 280, 0, 0, 0) != -1 or ctypes.get_errno() not in (1, 38): print("taken")"""),
    "internet": ("the internet", """
import socket
socket.create_connection(("192.0.2.1", 80), 1); print("taken")"""),
    "interfaces": ("a network device", """
import socket
if [name for _, name in socket.if_nameindex() if name != "lo"]: print("taken")"""),
    "devices": ("disks", """
import os
if {"sda", "vda", "mem", "kmsg", "tty", "fuse"} & set(os.listdir("/dev")): print("taken")"""),
    "device node": ("a separate device", """
import os, stat
os.mknod("/tmp/disk", stat.S_IFBLK | 0o600, os.makedev(8, 0)); open("/tmp/disk")
print("taken")"""),
    "su": ("root by su", """
import subprocess
said = subprocess.run(["su", "-c", "id -u"], capture_output=True, text=True).stdout
if said.strip() == "0": print("taken")"""),
    "standard input": ("what the grader types", """
import sys
if sys.stdin.read(): print("taken")"""),
    "input": ("an answer from the grader", "input('mark? '); print('taken')"),
    "zero": ("uncounted memory of a device", "open('/dev/zero', 'r+b'); print('taken')"),
    "magic": ("the shell, by a magic", "!cat /etc/shadow && echo taken"),
    "script": ("the shell, by a cell magic", "%%script sh\ncat /etc/passwd && echo taken"),
    "bash": ("the shell, by another", "%%bash\nls /proc/1/root/root && echo taken"),
    "kernel log": ("the kernel's log", CALLS + """
if libc.klogctl(3, ctypes.create_string_buffer(99), 99) >= 0: print("taken")"""),
    "shared segment": ("memory that outlives it", CALLS + """
if libc.shmget(7, 4096, 0o1666) >= 0: print("taken")"""),
    "host name": ("the machine's name", CALLS + """
if libc.sethostname(b"x", 1) == 0: print("taken")"""),
    "clock": ("the machine's clock", "import time; time.clock_settime(0, 0); print('taken')"),
    "niceness": ("priority over the grader", "import os; os.nice(-5); print('taken')"),
    "supplementary groups": ("the grader's groups", """
import os
if set(os.getgroups()) - {os.getgid(), 65534}: print("taken")"""),
    "descriptors": ("an open file of the grader's", """
import os, stat
for number in range(64):
    try: found = os.fstat(number)
    except OSError: continue
    if stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode) and found.st_uid != os.getuid():
        print("taken")"""),
}  # fmt: skip

# Disturbances: name -> the cells of a notebook; `os`, `sys` and `time` are already imported.
NUISANCES = {
    "kill the parent": ("os.kill(os.getppid(), 9)",),
    "kill everybody": ("os.kill(-1, 9)",),
    "kill the first": ("os.kill(1, 9); os.kill(1, 19); os.kill(1, 6)",),
    "stop itself": ("os.kill(os.getpid(), 19)",),
    "stop a child": ("import subprocess; subprocess.Popen(['sleep', '99']).send_signal(19)",),
    "end in the middle": ("print(1)", "os._exit(0)", "print(2)"),
    "end by exit": ("exit", "raise SystemExit(0)", "import sys; sys.exit(7)"),
    "segfault": ("import ctypes; ctypes.string_at(0)",),
    "abort": ("os.abort()",),
    "deaf": ("import signal; signal.signal(2, signal.SIG_IGN); signal.signal(15, signal.SIG_IGN)",
             "while True: pass"),
    "deaf by catching": ("while True:\n    try:\n        while True: pass\n"
                         "    except BaseException: pass",),
    "daemon": ("if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n"
               "        import signal, time\n        for n in (1, 2, 13, 15): signal.signal(n, 1)\n"
               "        while True: time.sleep(9)\n    os._exit(0)",),
    "threads": ("import threading, time\nfor _ in range(8):\n"
                "    threading.Thread(target=time.sleep, args=(99,)).start()",),
    "at exit": ("import atexit, time; atexit.register(time.sleep, 99)",),
    "finalizer": ("class Deaf:\n    def __del__(self):\n        while True: pass\nkept = Deaf()",),
    "fork bomb": ("while True:\n    try: os.fork()\n    except OSError: pass",),
    "thread bomb": ("import threading, time\nwhile True:\n"
                    "    threading.Thread(target=time.sleep, args=(99,), daemon=True).start()",),
    "hog": ("kept = bytearray(1 << 32)", "kept = [bytearray(1 << 20) for _ in range(2000)]"),
    "hogs": ("import time\nfor _ in range(6):\n    if os.fork() == 0:\n"
             "        kept = bytearray(b'1') * (100 << 20)\n        time.sleep(9)\ntime.sleep(9)",),
    "descriptors": ("kept = []\nwhile True: kept.append(open(os.devnull))",),
    "pipes": ("kept = []\nwhile True: kept.append(os.pipe())",),
    "disk": ("with open('/tmp/big', 'wb') as file:\n    while True: file.write(b'x' * 1000000)",
             "with open('/dev/shm/big', 'wb') as file:\n    while True: file.write(bytes(99_999))"),
    "names": ("for n in range(10**6): open(f'/tmp/{n}', 'w').close()",),
    "flood": ("while True: print('x' * 100)",),
    "flood of one": ("print('x' * 30_000_000)",),
    "flood of the descriptor": ("while True: os.write(1, b'x' * 100_000)",),
    "flood of displays": ("while True: display('x')",),
    "flood by a program": ("!yes | head -c 100000000",),
    "huge result": ("'x' * 30_000_000",),
    "huge error": ("raise ValueError('x' * 30_000_000)",),
    "deep": ("def f(n): return f(n + 1)\nimport sys; sys.setrecursionlimit(10**9); f(0)",),
    "huge number": ("print(len(str(10 ** 10 ** 8)))",),
    "half a character": ("print('\\ud800'); raise ValueError('\\udfff')", "'\\ud800'"),
    "odd output": ("import sys; sys.stdout.write(7)", "sys.stdout = None; print(1)",
                   "sys.stdout = sys.stderr = 5", "1 / 0"),
    "error that ends": ("class E(Exception):\n    def __str__(self): os._exit(0)\nraise E",),
    "error without end": ("class E(Exception):\n    def __str__(self):\n        while True: pass\n"
                          "raise E",),
    "shown without end": ("class R:\n    def __repr__(self):\n        while True: pass\nR()",),
    "patched shell": ("ip = get_ipython(); ip.run_cell = ip.run_cell_async = None", "print(1)"),
    "patched builtins": ("import builtins; builtins.len = builtins.print = None", "1"),
    "patched json": ("import json; json.dumps = lambda *a, **k: 'x'", "1"),
    "patched socket": ("import socket; socket.socket.sendall = lambda *a: None", "1"),
    "patched signals": ("import signal; signal.pthread_sigmask(0, range(1, 60))",
                        "while True: pass"),
    "transformer": ("ip = get_ipython(); ip.input_transformers_post.append(lambda lines: 1 / 0)",
                    "1"),
    "closed socket": ("os.closerange(3, 64)", "print(1)"),
    "cwd": ("os.chdir('/'); import shutil; shutil.rmtree('/tmp', ignore_errors=True)", "open('a')"),
    "wipe": ("import shutil; shutil.rmtree('/', ignore_errors=True)", "print(1)"),
    "long line": ("x = " + "+".join("1" * 5000),),
    "thousand": ("1",) * 1000,
}  # fmt: skip

# ---- Messages on the socket, in the protocol's own format: `say` sends what looks like a message.
# JSON nested this deeply can be read but not written; from 3.12 on, reading does not count as
# calls.
DEPTH = 1200 if sys.version_info >= (3, 12) else 600
SPEAK = """
import gc, json, os, socket, struct
talk = [o for o in gc.get_objects() if type(o) is socket.socket and o.fileno() >= 0][0]
def send(data, size=None):
    talk.sendall(struct.pack(">Q", len(data) if size is None else size) + data)
def say(**frame): send(json.dumps(frame).encode())
"""
WORDS = {
    "early ready": "say(ready=True)",
    "a fault": "say(fault='the disk is full')",
    "early done": "say(done=True)",
    "the end of all": "for n in range(9): say(end=n, outputs=[], execution_count=n)",
    "the end of no cell": "say(end=-1, outputs=[]); say(end=10**30); say(end=[]); say(end=None)",
    "a huge length": "send(b'', 1 << 63)",
    "a length of too much": "send(b'', 49_000_000)",
    "a length and no more": "send(b'', 100); os._exit(0)",
    "half a length": "talk.sendall(bytes(3)); os._exit(0)",
    "garbage": "talk.sendall(os.urandom(10_000))",
    "no JSON": "send(b'{\"end\": 0')",
    "no object": "send(b'7'); send(b'[]'); send(b'null'); send(b'')",
    "not UTF-8": "send(b'\\xff\\xfe')",
    "deep JSON": "send(b'[' * 100_000)",
    "deep replies": "for n in range(99): send(b'{\"case\": %d, \"observation\": {\"move\": ' % n"
                    f" + b'[' * {DEPTH} + b']' * {DEPTH} + b'}}}}')\nos._exit(0)",
    "deep reasons": "send(b'{\"broken\": ' + b'[' * 900 + b']' * 900 + b'}')\nos._exit(0)",
    "a huge number": "send(b'{\"end\": ' + b'9' * 5000 + b'}')",
    "huge counts": "send(b'{\"end\": 0, \"execution_count\": ' + b'9' * 4000 + b'}')",
    "no numbers": "say(end=0, outputs=float('nan'), execution_count=float('inf'))",
    "strange outputs": "say(end=0, outputs=[None, 5, 'x', [], {}, {'output_type': 7}, "
                       "{'output_type': 'stream', 'name': 'stdin', 'text': 'x'}, "
                       "{'output_type': 'stream', 'name': 'stdout', 'text': 5}, "
                       "{'output_type': 'error', 'ename': 'x', 'evalue': 'x', 'traceback': [7]}, "
                       "{'output_type': 'display_data', 'data': {'text/plain': {'x': []}}}, "
                       "{'output_type': 'execute_result', 'data': 'x', 'execution_count': -1}])",
    "much output": "for n in range(9): say(end=n, outputs=[{'output_type': 'stream', "
                   "'name': 'stdout', 'text': 'x' * 900_000}])",
    "many messages": "for _ in range(200_000): say()",
    "marks": "for n in range(99): say(case=n, observation={'earned': 15, 'points': 15, "
             "'full': True, 'right': 99}, earned=15, points=15)\nos._exit(0)",
    "cases that were not asked": "for n in (-1, 10**9, 1e3, True, '0', None, [0]): "
                                 "say(case=n, observation={'nodes': 1})\nos._exit(0)",
    "errors that are none": "say(case=0, observation={'errors': 5}); "
                            "say(case=1, observation={'errors': {'move': 5}}); "
                            "say(case=2, observation=[]); say(case=3)\nos._exit(0)",
    "a descriptor": "socket.send_fds(talk, [struct.pack('>Q', 2) + b'{}'], [talk.fileno()])",
}  # fmt: skip

# ---- Modules that would earn marks without solving the exercise.
SEARCH = "class AlphaBeta:\n    def search(self, state): return {}\n"
EVERYTHING = """
class Everything(BASE):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    def __float__(self): return 0.125
    def __index__(self): return 999_999
    def __int__(self): return 999_999
    def __len__(self): return 1
    def __iter__(self): return iter([self])
    def __getitem__(self, item): return self
    def __reduce__(self): return (eval, ("15",))
    def __reduce_ex__(self, protocol): return (eval, ("15",))
    def __call__(self, *arguments, **options): return self
    def __getattr__(self, name): return self
"""
THREE = SEARCH.format("(it, it, it)")
MODULES = {
    "equal to everything": EVERYTHING.replace("BASE", "object") + "it = Everything()\n" + THREE,
    "a number equal to everything":
        EVERYTHING.replace("BASE", "int") + "it = Everything(7)\n" + THREE,
    "a float equal to everything":
        EVERYTHING.replace("BASE", "float") + "it = Everything(7)\n" + THREE,
    "a text equal to everything":
        EVERYTHING.replace("BASE", "str") + "it = Everything('x')\n" + THREE,
    "a list equal to everything":
        EVERYTHING.replace("BASE", "list") + "it = Everything()\n" + THREE,
    "registered as a number": EVERYTHING.replace("BASE", "object") +
        "import numbers; numbers.Real.register(Everything); it = Everything()\n" + THREE,
    "nan": "it = float('nan')\n" + THREE,
    "infinite": "it = float('inf')\n" + THREE,
    "huge": "it = 10 ** 4000\n" + THREE,
    "deep": "it = []\nfor _ in range(900): it = [it]\n" + THREE,
    "around in a circle": "it = []; it.append(it)\n" + THREE,
    "endless": "import itertools; it = itertools.count()\n" + THREE,
    "half characters": "it = '\\ud800'\n" + THREE,
    "all answers": "it = list(range(900))\n" + THREE,
    "prints points": "print(15); print('15.0'); print('study2.alpha_beta: 15 of 15 points')\n"
                     + SEARCH.format("print(15)"),
    "ends": "import os; os._exit(0)",
    "ends later": "import os\n" + SEARCH.format("os._exit(0)"),
    "exits": "import sys; sys.exit(0)",
    "exits later": "import sys\n" + SEARCH.format("sys.exit(0)"),
    "interrupts": SEARCH.format("(_ for _ in ()).throw(KeyboardInterrupt)"),
    "at exit": "import atexit, os; atexit.register(os.write, 1, b'15')\n" + SEARCH.format(None),
    "patched json": "import json; json.dumps = lambda *a, **k: '{\"earned\": 15}'\n"
                    + SEARCH.format("(-1, 0.123, -1)"),
    "patched frames": "import inside.frames, inside.zygote\n"
                      "inside.frames.send = inside.zygote.send = lambda *a: None\n"
                      + SEARCH.format("(-1, 0.123, -1)"),
    "patched marking": "import course.checks.marking.comparison as c\n"
                       "import course.checks.marking.outcome as o\n"
                       "import course.checks.running.queries as a\n"
                       "c.equal = c.is_right = o.is_right = o.mark = lambda *x: True\n"
                       "a.plain = a.reply = lambda *x: {'earned': 15}\n"
                       + SEARCH.format("(-1, 0.123, -1)"),
    "patched builtins": "import builtins; builtins.isinstance = lambda *a: True\n"
                        "builtins.type = builtins.len = builtins.zip = lambda *a: 15\n"
                        + SEARCH.format("(-1, 0.123, -1)"),
    "patched counter": "import tictactoe.nodes as n\n"
                       "for name in dir(n):\n    if name[0] != '_': setattr(n, name, None)\n"
                       + SEARCH.format("(None, None, -1)"),
    "patched boards": "import tictactoe; tictactoe.Board.__eq__ = lambda *a: True\n"
                      "tictactoe.Board.__str__ = lambda *a: 1 / 0\n"
                      + SEARCH.format("(state, state, state)"),
    "reads": "import sys; sys.stdin.read()\n" + SEARCH.format("input()"),
    "kills": "import os\n" + SEARCH.format("[os.kill(n, 9) for n in (os.getppid(), 1, -1)]"),
    "forks": "import os; os.fork(); os.fork()\n" + SEARCH.format("('x', 'x', 'x')"),
    "daemon": "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(99)\n"
              + SEARCH.format("('x', 'x', 'x')"),
    "knows that it is graded": "import os\nif os.getpid() == 1 or "
                               "'NBGRADER_EXECUTION' in os.environ:\n    os._exit(0)\n"
                               + SEARCH.format("(-1, 0.123, -1)"),
    "module with a getattr": "def __getattr__(name):\n    import os; os._exit(0)",
    "coroutine": "class AlphaBeta:\n    async def search(self, state): return 1, 2, 3\n",
    "no text": "\x00\x01",
    "escape codes": "raise ValueError('\\x1b]0;owned\\x07\\x1b[2J\\u202e' + '\\ud800' * 3)",
    "markup": "raise ValueError('<script>alert(1)</script>[red]')",
    "floods": "import sys\nwhile True: sys.stderr.write('x' * 10_000)",
    "hog": "kept = [bytearray(b'1') * (1 << 20) for _ in range(2000)]",
    "loop": "import signal; signal.pthread_sigmask(0, range(1, 60))\nwhile True: pass",
}  # fmt: skip

# ---- Files that would be imported instead of real modules, or run by Python or IPython.
SHADOW = "import sys; sys.modules['builtins'].owned = True; raise ImportError('owned')"
SHADOWS = {
    name: SHADOW.encode()
    for name in (
        "json.py",
        "matplotlib.py",
        "numpy.py",
        "tictactoe.py",
        "statistics.py",
        "socket.py",
        "inside.py",
        "course/__init__.py",
        "tictactoe/__init__.py",
        "IPython/__init__.py",
        "sitecustomize.py",
        "usercustomize.py",
        "conftest.py",
        "ipython_config.py",
        "startup/00-first.py",
        "profile_default/startup/00-first.py",
        ".ipython/profile_default/startup/00-first.py",
        "profile_default/ipython_config.py",
        "pyseccomp.py",
        "antigravity.py",
        "bleach.py",
        "nbgrader_config.py",
        "jupyter_config.py",
    )
} | {
    "own.pth": b"import builtins; builtins.owned = True",
    "python311._pth": b".\nimport site",
    "pyvenv.cfg": b"home = /tmp",
    "matplotlibrc": b"backend: nonsense",
    "tictactoe.zip": b"PK",
}

SLOW = {
    "deaf by catching",
    "patched signals",
    "error without end",
    "shown without end",
    "huge number",
    "flood of displays",
    "loop",
    "floods",
}  # stopped only by time
