import Glibc
import Testing

@testable import SDBus

@Suite("The address of a message bus")
struct BusAddressTests {
  private static func path(_ text: String) -> BusAddress.Socket { .path(Array(text.utf8)) }

  @Test(
    "a D-Bus address is parsed as in the specification: guid, alternatives and escaped bytes",
    arguments: [
      ("unix:path=/run/user/1000/bus", [path("/run/user/1000/bus")]),
      ("unix:path=/run/user/1000/bus,guid=b81ccf1e1f4ba1d2c9c0d9be6565f6a5", [path("/run/user/1000/bus")]),
      ("unix:guid=b81ccf1e1f4ba1d2c9c0d9be6565f6a5,path=/run/bus", [path("/run/bus")]),
      ("unix:abstract=/tmp/dbus-Hq3,guid=00", [.abstract(Array("/tmp/dbus-Hq3".utf8))]),
      ("unix:path=/a;unix:path=/b,guid=1", [path("/a"), path("/b")]),
      ("autolaunch:;tcp:host=127.0.0.1,port=1;unix:path=/b;", [path("/b")]),
      ("unix:path=/a%20folder%2c%3B/%C3%A5", [path("/a folder,;/å")]),
      ("unix:path=/home/å/bus", [path("/home/å/bus")]),
      ("unix:path=/a%00b;unix:path=/a%4;unix:path=/a%zz;unix:path=/whole", [path("/whole")]),
    ] as [(String, [BusAddress.Socket])])
  func read(_ text: String, _ sockets: [BusAddress.Socket]) {
    #expect(BusAddress(text)?.sockets == sockets)
  }

  @Test(
    "a D-Bus address is nil if no alternative is a connectable socket of this machine",
    arguments: [
      "", ";", "unix:", "unix:path=", "unix:path=bus", "unix:abstract=", "unix:path=/a,abstract=b",
      "unix:path=/a,path=/b",
      "unix:path", "unix:tmpdir=/tmp", "unix:runtime=yes", "tcp:host=localhost,port=80", "/run/user/1000/bus",
      "unixexec:path=/bin/sh", "unix:path=/a%", "UNIX:path=/a",
    ])
  func unusable(_ text: String) { #expect(BusAddress(text) == nil) }

  @Test("a D-Bus address escapes a socket's path, and is parsed back to it", arguments: ["/run/bus", "/a b,;%=/å\\*"])
  func written(_ path: String) {
    let text = BusAddress.of(socketAt: path)
    #expect(BusAddress(text)?.sockets == [Self.path(path)])
    #expect(!text.dropFirst("unix:path=".count).contains { ",; =".contains($0) })
  }

  @Test("a D-Bus address leads to its first alternative that can be reached, also in the abstract namespace")
  func connected() throws {
    let name = "whorl-test-\(getpid())-\(UInt64.random(in: 0 ... .max))"
    let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: [0] + Array(name.utf8)) }
    let count = socklen_t(MemoryLayout<sa_family_t>.size + 1 + name.utf8.count)
    let bound = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, count) }
    }
    try #require(bound == 0 && listen(listener, 1) == 0)
    _ = try BusDescriptor.connected(toBus: "unix:path=/nonexistent/bus;unix:abstract=\(name),guid=1")
    #expect(throws: BusError.system(ENOENT)) { try BusDescriptor.connected(toBus: "unix:path=/nonexistent/bus") }
    #expect(throws: BusError.system(ENAMETOOLONG)) {
      try BusDescriptor.connected(toBus: "unix:path=/\(String(repeating: "a", count: 200))")
    }
  }
}
