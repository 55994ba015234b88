import Glibc
import ProgramDriver
import ReaderBus
import SDBus
import Testing

@testable import ReaderClient

@Suite("The bus sockets that a reader process gets")
struct BusSocketTests {
  @Test("a reader process gets sockets to the buses it was started with, and to no others")
  func addresses() async throws {
    try await PrivateBus.with { allowed in
      try await PrivateBus.with { other in
        try await withReaderProcess(of: BusSockets(to: [allowed.address])) { process in
          let socket = try #require(try await ask(for: allowed.address, process))
          let member = try BusConnection(busSocket: socket, handlers: .init())
          #expect(try await member.owner(of: "org.freedesktop.DBus") == "org.freedesktop.DBus")
          member.close()
          for address in [other.address, "", "unix:path=/", "\(allowed.address);\(other.address)"] {
            #expect(await error(of: address, process) == "org.freedesktop.DBus.Error.AccessDenied")
          }
        }
      }
    }
  }

  @Test("a reader process that asks for a missing bus or an address of another form gets an error")
  func missing() async throws {
    let missing = ["unix:path=/nonexistent/bus", "unix:abstract=/bus", "tcp:host=127.0.0.1,port=1", "unix:path=bus"]
    try await withReaderProcess(of: BusSockets(to: Set(missing))) { process in
      for address in missing { #expect(await error(of: address, process) == "org.freedesktop.DBus.Error.NoServer") }
    }
  }

  @Test("a reader process may ask for a bus socket at most 1,000 times")
  func limit() async throws {
    try await withReaderProcess(of: BusSockets(to: ["unix:path=/nonexistent/bus"])) { process in
      for _ in 1...1_000 { _ = await error(of: "unix:path=/nonexistent/bus", process) }
      #expect(
        await error(of: "unix:path=/nonexistent/bus", process) == "org.freedesktop.DBus.Error.LimitsExceeded")
    }
  }

  @Test("a reader process that makes another call than for a bus socket gets an error")
  func otherCalls() async throws {
    try await PrivateBus.with { bus in
      try await withReaderProcess(of: BusSockets(to: [bus.address])) { process in
        let (target, member) = (ReaderStarterInterface.target, ReaderStarterInterface.connectToBus)
        #expect(await error(of: bus.address, process) == nil)
        for (target, member) in [
          (BusTarget(path: "/other", interface: target.interface), member),
          (BusTarget(path: target.path, interface: "org.whorl.Other1"), member), (target, "Other"),
        ] {
          let error = await error(of: [.string(bus.address)], target, member, process)
          #expect(error == "org.freedesktop.DBus.Error.UnknownMethod")
        }
        let error = await error(of: [.string(bus.address), .int64(1)], target, member, process)
        #expect(error == "org.freedesktop.DBus.Error.InvalidArgs")
      }
    }
  }

  private func ask(for address: String, _ process: BusConnection) async throws(BusError) -> BusDescriptor? {
    let target = ReaderStarterInterface.target
    return try await process.call(target, ReaderStarterInterface.connectToBus, [.string(address)]).first?.asDescriptor
  }

  private func error(of address: String, _ process: BusConnection) async -> String? {
    await error(of: [.string(address)], ReaderStarterInterface.target, ReaderStarterInterface.connectToBus, process)
  }

  private func error(
    of arguments: [BusValue], _ target: BusTarget, _ member: String, _ process: BusConnection
  ) async -> String? {
    do throws(BusError) {
      _ = try await process.call(target, member, arguments)
      return nil
    } catch {
      return if case .remote(let name, _, _) = error { name } else { "\(error)" }
    }
  }

  /// The body has the reader process's end of the connection.
  private func withReaderProcess(of sockets: BusSockets, _ body: (BusConnection) async throws -> Void) async throws {
    var pair: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &pair) == 0)
    let starter = try BusConnection(
      socket: pair[0], role: .client, handlers: .init(call: { sockets.answer($0) }))
    let process = try BusConnection(socket: pair[1], role: .server, handlers: .init())
    defer {
      starter.close()
      process.close()
    }
    try await body(process)
  }
}
