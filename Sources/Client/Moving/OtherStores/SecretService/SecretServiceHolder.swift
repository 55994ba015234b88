internal import Primitives
internal import Processes
internal import SDBus

/// The program that has the name of the Secret Service on a bus.
package struct SecretServiceHolder: Sendable, Hashable {
  /// The path of its executable, or else its name; nil if neither is known.
  package let program: String?
  package let process: Int32?
  /// Whether it is Whorl's own service.
  package let isOwn: Bool

  /// The path of an object that only Whorl's service has.
  static let ownObject = "/org/whorl/SecretService"
  private static let ownProgram = "whorl-agent"

  /// Nil if no program owns the name. Does not start a service.
  package static func current(onBus address: String) async throws(ImportError) -> Self? {
    do throws(BusError) {
      let connection = try BusConnection(busAddress: address, handlers: .init())
      defer { connection.close() }
      guard let owner = try await connection.owner(of: SecretServiceBus.name) else { return nil }
      return await Self(owner, on: connection)
    } catch {
      throw .unavailable("the message bus of this session: \(error.words)")
    }
  }

  /// Makes the bus start a program for the name if nobody owns it. Returns whether the name then has an owner.
  ///
  /// - Parameter other: the bus name of a program that takes the Secret Service's name, too, and that the bus starts by
  ///   its own name only: KWallet.
  package static func start(onBus address: String, or other: String? = nil) async throws(ImportError) -> Bool {
    do throws(BusError) {
      let connection = try BusConnection(busAddress: address, handlers: .init())
      defer { connection.close() }
      if try await connection.owner(of: SecretServiceBus.name) != nil { return true }
      do throws(BusError) {
        // 0: no flags
        _ = try await connection.call(
          MessageBus.target, "StartServiceByName", [.string(SecretServiceBus.name), .uint32(0)],
          within: SecretServiceBus.limit)
      } catch .remote {
        // The bus knows no such program, or the program failed.
        guard let other else { return false }
        do throws(BusError) {
          _ = try await connection.call(
            MessageBus.target, "StartServiceByName", [.string(other), .uint32(0)], within: SecretServiceBus.limit)
        } catch .remote {
          return false
        }
      }
      // A program may take its names one after the other.
      for _ in 0..<Self.patience {
        if try await connection.owner(of: SecretServiceBus.name) != nil { return true }
        try? await Pause.wait(for: .milliseconds(100))
      }
      return false
    } catch {
      throw .unavailable("the message bus of this session: \(error.words)")
    }
  }

  /// How often the bus is asked for the name's owner after a program was started, a tenth of a second apart.
  private static let patience = 20

  /// Whether the name's owner may hold items. Starts no program and opens no collection, so a locked collection and a
  /// malformed answer count as items. Without an owner: whether the bus can start a program for the name.
  package static func mayHoldItems(onBus address: String) async throws(ImportError) -> Bool {
    let connection: BusConnection
    do throws(BusError) {
      connection = try BusConnection(busAddress: address, handlers: .init())
      guard try await connection.owner(of: SecretServiceBus.name) != nil else {
        defer { connection.close() }
        let names = try await connection.call(
          MessageBus.target, "ListActivatableNames", [], within: SecretServiceBus.limit)
        guard case .array(_, let values)? = names.first else { return false }
        return values.contains { $0.asString == SecretServiceBus.name }
      }
      connection.close()
    } catch {
      throw .unavailable("the message bus of this session: \(error.words)")
    }
    do throws(ImportError) {
      let bus = try await SecretServiceBus(address)
      for collection in try await bus.paths(SecretServiceBus.path, "Service", "Collections") {
        let properties = try await bus.properties(collection, "Collection")
        guard case .array(_, let items)? = properties["Items"], properties["Locked"]?.asBoolean != true else {
          return true
        }
        if !items.isEmpty { return true }
      }
      return false
    } catch {
      return true
    }
  }

  /// Makes the bus reload its service files.
  package static func rereadServices(onBus address: String) async throws(ImportError) {
    do throws(BusError) {
      let connection = try BusConnection(busAddress: address, handlers: .init())
      defer { connection.close() }
      _ = try await connection.call(MessageBus.target, "ReloadConfig", [], within: SecretServiceBus.limit)
    } catch {
      throw .unavailable("the message bus of this session: \(error.words)")
    }
  }

  /// - Parameter owner: its unique name.
  init(_ owner: String, on connection: BusConnection) async {
    let answer = try? await connection.call(
      MessageBus.target, "GetConnectionUnixProcessID", [.string(owner)], within: SecretServiceBus.limit)
    process = answer?.first?.asUInt32.flatMap { Int32(exactly: $0) }
    program = process.flatMap {
      // The kernel does not reveal the executable of a process that may not be inspected, such as whorl-agent.
      ExecutedFile(of: $0)?.path ?? Self.command(of: $0)
    }
    if let program, program == Self.ownProgram || program.hasSuffix("/\(Self.ownProgram)") {
      isOwn = true
    } else {
      let object = BusTarget(
        destination: owner, path: Self.ownObject, interface: "org.freedesktop.DBus.Introspectable")
      let found = try? await connection.call(object, "Introspect", [], within: SecretServiceBus.limit)
      isOwn = found?.first?.asString?.contains("org.whorl.") == true
    }
  }

  private static func command(of process: Int32) -> String? {
    guard let line = try? SmallFile.read("/proc/\(process)/comm", limit: 64) else { return nil }
    return String(validating: line.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}

extension SecretServiceBus {
  /// The program that has the name.
  func holder() async -> SecretServiceHolder { await SecretServiceHolder(owner, on: connection) }
}
