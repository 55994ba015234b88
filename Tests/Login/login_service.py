"""A service for tests of pam_whorl.so that a test steers: org.whorl.Login1 at a socket, with touches as the test says."""
import os
import socket
import struct
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../System")
from dbus_wire import message, received  # noqa: E402


def answer(serial, word):
    text = word.encode()
    return message(2, 1, [(5, "u", serial), (8, "g", "s")], struct.pack("<I", len(text)) + text + b"\0")


class LoginService:
    """Asks for a touch as the real service does. `touch` presses a finger: it counts only while the reader is armed."""

    def __init__(self, path, ready_after=0.0):
        if os.path.exists(path):
            os.unlink(path)
        self.ready_after = ready_after
        self.changed = threading.Condition()
        # The connection and the serial number of the call that waits for a touch.
        self.armed = None
        self.requests = 0
        self.misses = 0
        # What is answered in place of the first prompt.
        self.outcome = "touch"
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(path)
        os.chmod(path, 0o666)
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            peer = self.listener.accept()[0]
            threading.Thread(target=self.run, args=(peer,), daemon=True).start()

    def run(self, peer):
        try:
            self.serve(peer)
        except OSError:
            pass
        with self.changed:
            if self.armed is not None and self.armed[0] is peer:
                self.armed = None
            self.changed.notify_all()
        peer.close()

    def serve(self, peer):
        data, answered = b"", 0
        lines = [b"DATA\r\n", b"OK 0123456789abcdef0123456789abcdef\r\n", b"AGREE_UNIX_FD\r\n"]
        while b"BEGIN\r\n" not in data:
            part = peer.recv(4096)
            if not part:
                return
            data += part
            while answered < min(data.count(b"\r\n"), 3):
                peer.sendall(lines[answered])
                answered += 1
        for number, (header, _) in enumerate(received(peer, data.split(b"BEGIN\r\n", 1)[1])):
            serial = struct.unpack("<I", header[8:12])[0]
            if number == 0:
                with self.changed:
                    self.requests += 1
                peer.sendall(answer(serial, "trying"))
            elif number == 1:
                threading.Event().wait(self.ready_after)
                peer.sendall(answer(serial, self.outcome))
            else:
                with self.changed:
                    self.armed = (peer, serial)
                    self.changed.notify_all()

    def wait_until_armed(self, seconds=5.0):
        with self.changed:
            return self.changed.wait_for(lambda: self.armed is not None, seconds)

    def wait_until_idle(self, seconds=5.0):
        with self.changed:
            return self.changed.wait_for(lambda: self.armed is None, seconds)

    def touch(self, word):
        """Presses a finger; the service answers with this word. False if the reader is not armed."""
        with self.changed:
            if self.armed is None:
                return False
            peer, serial = self.armed
            self.armed = None
        try:
            peer.sendall(answer(serial, word))
        except OSError:
            return False
        return True
