"""The first process in a box: starts calls with the files and the environment that a launcher sends, and reaps.

It runs alone, without ahp: `python -I -S init.py SOCKET NETWORK TERMINAL`. Each connection is one call: a line of JSON
with its three files (SCM_RIGHTS) comes in; "started", then the exit code and whether anything is left to do, go out.
While it is open, each further byte is the number of a signal for the call; when it closes, the call is killed. Without
a call and without another process the box ends. On NETWORK it hands out what `ahp.box.network` needs from here.
"""

import json
import os
import select
import signal
import socket
import sys

LIMIT = 8 << 20  # bytes of a request
STARTED = b"started\n"
PORT = 61080  # of the proxy: above those that the system gives to clients
DOOR = "ahp-door"  # of the door, a name of the box's own network
FAMILIES = "46"  # of the addresses, in the order of what is handed out


class Call:
    """A call on its connection; `pid` is 0 before it is started and after its end."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection, self.pid = connection, 0
        self.said = b""
        self.files: list[int] = []

    def hear(self) -> None:
        """Reads what came; raises EOFError at the end of the connection."""
        data, given, _, _ = socket.recv_fds(self.connection, 1 << 16, 3)
        self.files += given
        if not data:
            raise EOFError
        if self.pid:
            for number in data:
                self.send(number)
            return
        self.said += data
        if len(self.said) > LIMIT:
            raise EOFError

    def start(self, in_terminal: bool) -> None:
        """Starts the command in a group of its own, but where it has to share that of the terminal."""
        request = json.loads(self.said)
        self.pid = os.fork()
        if self.pid:
            self.close_files()
            return
        try:
            if not in_terminal:
                os.setsid()
            for number, file in enumerate(self.files):
                os.dup2(file, number)
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            for number in (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGCHLD, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            os.umask(request["umask"])
            os.chdir(request["folder"])
            os.execvpe(request["argv"][0], request["argv"], request["env"])  # noqa: S606
        except OSError as error:
            os.write(2, f"ahp box: cannot start {request['argv'][0]}: {error.strerror}\n".encode("utf-8", "replace"))
            os._exit(127 if isinstance(error, FileNotFoundError) else 126)
        finally:
            os._exit(125)

    def send(self, number: int) -> None:
        """A signal for the whole group of the command; one that shares ours gets it alone."""
        try:
            if os.getpgid(self.pid) == self.pid:
                os.killpg(self.pid, number)
            else:
                os.kill(self.pid, number)
        except (ProcessLookupError, ValueError, OSError):
            pass  # it is gone already

    def answer(self, words: bytes) -> None:
        try:
            self.connection.sendall(words)
        except OSError:
            pass  # the launcher is gone

    def close_files(self) -> None:
        for file in self.files:
            os.close(file)
        del self.files[:]


def hand_out(network: socket.socket) -> None:
    """Gives out what listens for the proxy and for the door, and the lists of what else listens in this network."""
    listener = socket.create_server(("127.0.0.1", PORT), backlog=128)
    door = socket.socket(socket.AF_UNIX)
    door.bind(f"\0{DOOR}")
    door.listen(128)
    lists = [os.open(path, os.O_RDONLY) for path in ("/proc/net/tcp", "/proc/net/tcp6") if os.path.exists(path)]
    given = [listener.detach(), door.detach(), *lists]
    socket.send_fds(network, [b"."], given)
    for number in given:
        os.close(number)


def _hand_out_one(network: socket.socket) -> bool:
    """Gives out a fresh socket of this network; False where nobody asks any more."""
    try:
        family = network.recv(1)
        if family:
            with socket.socket(socket.AF_INET6 if family == b"6" else socket.AF_INET) as fresh:
                socket.send_fds(network, [b"."], [fresh.fileno()])
        return bool(family)
    except OSError:
        return False


def serve(listener: socket.socket, network: socket.socket, in_terminal: bool) -> None:
    """Until nothing is left to do."""
    hand_out(network)
    awake, alarm = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.set_wakeup_fd(alarm)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    calls: dict[int, Call] = {}
    poll = select.poll()
    for number in (listener.fileno(), network.fileno(), awake):
        poll.register(number, select.POLLIN)
    while True:
        for number, _ in poll.poll():
            if number == awake:
                os.read(awake, 1 << 10)
                is_busy = _reap(calls, poll)
                if not calls and not is_busy:
                    return
            elif number == listener.fileno():
                connection, _ = listener.accept()
                calls[connection.fileno()] = Call(connection)
                poll.register(connection.fileno(), select.POLLIN)
            elif number == network.fileno():
                if not _hand_out_one(network):
                    poll.unregister(number)
            elif number in calls:
                _hear(calls[number], calls, poll, in_terminal)


def _hear(call: Call, calls: dict[int, Call], poll: select.poll, in_terminal: bool) -> None:
    try:
        call.hear()
    except (EOFError, OSError):
        if call.pid:
            call.send(signal.SIGKILL)
        _forget(call, calls, poll)
        os.kill(os.getpid(), signal.SIGCHLD)  # perhaps nothing is left
        return
    if not call.pid and call.said.endswith(b"\n") and len(call.files) == 3:
        call.start(in_terminal)
        call.answer(STARTED)


def _reap(calls: dict[int, Call], poll: select.poll) -> bool:
    """Answers the calls that ended; whether any process is left."""
    ended = []
    is_busy = True
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            is_busy = False
            break
        if not pid:
            break
        ended += [(call, status) for call in calls.values() if call.pid == pid]
    for call, status in ended:
        code = os.waitstatus_to_exitcode(status)
        waits = any(other is not call and other not in [one for one, _ in ended] for other in calls.values())
        call.answer(b"%d %d\n" % (code if code >= 0 else 128 - code, is_busy or waits))
        call.pid = 0
        _forget(call, calls, poll)
    return is_busy


def _forget(call: Call, calls: dict[int, Call], poll: select.poll) -> None:
    poll.unregister(call.connection.fileno())
    del calls[call.connection.fileno()]
    call.close_files()
    call.connection.close()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])), socket.socket(fileno=int(sys.argv[2])), sys.argv[3] == "terminal")
