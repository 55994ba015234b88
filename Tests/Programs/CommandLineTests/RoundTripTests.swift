import Glibc
import ProgramDriver
import Testing

/// The calls that `whorl` makes to its vault. A relay in the vault's place passes them on and writes their names down.
@Suite("The calls of whorl to its vault")
struct RoundTripTests {
  @Test(
    "whorl get makes five calls for a secret that needs a finger, and three for one that needs nobody")
  func get() async throws {
    try await TestStore.enrolled { store in
      let open = try await calls(of: ["get", "open"], in: store)
      #expect(open == ["Hello", "Open", "Secrets"])
      let touched = try await calls(of: ["get", "presence"], in: store, [.right])
      #expect(touched == ["Hello", "Open", "Secrets", "OpenContext", "Secrets"])
    }
  }

  /// Runs a command that has to succeed, and returns the names of its calls.
  private func calls(
    of words: [String], in store: TestStore, _ touches: [Touches.Touch] = []
  ) async throws -> [String] {
    try await withFolder { folder in
      let (whorl, relay, list) = ("\(folder)/whorl", "\(folder)/relay", "\(folder)/calls")
      try writeFile(whorl, try readFile(try Programs.path("whorl")))
      try #require(chmod(whorl, 0o755) == 0)
      try writeFile("\(relay).py", Array(Self.relay(to: try Programs.path("whorld"), writing: list).utf8))
      // whorl runs the vault's program by a descriptor that closes then, so that this cannot be a script.
      let start = #"int main(void) { return execl("/usr/bin/python3", "python3", "\#(relay).py", (char *)0); }"#
      try writeFile("\(relay).c", Array("#include <unistd.h>\n\(start)\n".utf8))
      try await Invocation(program: "/usr/bin/cc", arguments: ["-o", "\(folder)/whorld", "\(relay).c"]).run()
        .mustSucceed()
      let result = try await Invocation(
        program: whorl, arguments: store.arguments(words + ["--reader", "virtual-image:\(store.socket)"])
      ).run(heard: Touches(socket: store.socket, touches).heard)
      try result.mustSucceed()
      return String(decoding: try readFile(list), as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }

  /// A program that passes the bytes and descriptors between its standard input and a vault, and lists the members of the
  /// calls that the client sends.
  private static func relay(to vault: String, writing list: String) -> String {
    """
    import os, re, select, signal, socket, struct, subprocess
    # A relay that hangs ends, so that the test does.
    signal.alarm(120)
    client = socket.socket(fileno=0)
    ours, theirs = socket.socketpair()
    child = subprocess.Popen(["\(vault)", "--private"], stdin=theirs)
    theirs.close()
    # A message is read alone: the descriptors of one belong to its first byte.
    def read(source, count):
        data, descriptors = b"", []
        while len(data) < count:
            more, given, _, _ = socket.recv_fds(source, count - len(data), 16)
            if not more:
                ours.close()
                raise SystemExit(child.wait())
            data, descriptors = data + more, descriptors + given
        return data, descriptors
    def message(source):
        start, descriptors = read(source, 16)
        order = "<" if start[:1] == b"l" else ">"
        body, _, fields = struct.unpack(order + "III", start[4:])
        rest, others = read(source, (fields + 7) // 8 * 8 + body)
        return start + rest, descriptors + others
    # What comes before the first message of each side.
    greetings = {client: (ours, b"BEGIN\\r\\n"), ours: (client, b"AGREE_UNIX_FD\\r\\n")}
    for source, (target, last) in greetings.items():
        greeting = b""
        while not greeting.endswith(last): greeting += read(source, 1)[0]
        target.sendall(greeting)
    while True:
        for source in select.select([client, ours], [], [])[0]:
            data, descriptors = message(source)
            member = re.search(b"\\x03\\x01s\\0(....)([A-Za-z]+)\\0", data, re.DOTALL)
            if source is client and data[1] == 1 and member:
                with open("\(list)", "ab") as file: file.write(member.group(2) + b"\\n")
            target = greetings[source][0]
            sent = socket.send_fds(target, [data], descriptors) if descriptors else 0
            target.sendall(data[sent:])
            for descriptor in descriptors: os.close(descriptor)
    """
  }
}
