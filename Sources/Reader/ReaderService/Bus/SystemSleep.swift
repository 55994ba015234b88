package import Primitives
internal import ReaderBus
internal import SDBus

/// Suspends the open reader before the machine sleeps, and resumes it afterwards.
///
/// While a reader is open, it holds a delay lock of logind, so that the machine does not sleep before the reader is
/// suspended. Without a system bus or logind it does nothing.
package actor SystemSleep: ReaderUseObserver {
  private static let manager = BusTarget(
    destination: "org.freedesktop.login1", path: "/org/freedesktop/login1",
    interface: "org.freedesktop.login1.Manager")
  private static let prepareForSleep = "PrepareForSleep"

  package nonisolated var unownedExecutor: UnownedSerialExecutor { BusLoop.shared.asUnownedSerialExecutor() }

  private let reader: any FingerprintReader
  private let address: String
  private let sockets: any BusSocketSource
  private var connection: BusConnection?
  private var isConnecting = false
  /// The unique name of logind. Signals from other senders are ignored.
  private var owner: String?
  private var isOwnerKnown = false
  private var isReaderOpen = false
  /// The state that logind signalled last, and the state of the reader.
  private var isSystemAsleep = false
  private var isReaderAsleep = false
  private var isFollowing = false
  /// The lock. Closing it lets the machine sleep.
  private var lock: BusDescriptor?
  private var isAskingForLock = false

  package init(over reader: any FingerprintReader, systemBus address: String, through sockets: any BusSocketSource) {
    self.reader = reader
    self.address = address
    self.sockets = sockets
  }

  package nonisolated func readerOpened() {
    assumeIsolated { sleep in
      sleep.isReaderOpen = true
      // A reader that is opened while the machine prepares to sleep is suspended, too.
      sleep.isReaderAsleep = false
      if sleep.connection == nil { sleep.connect() } else { sleep.follow() }
    }
  }

  package nonisolated func readerClosed() {
    assumeIsolated { sleep in
      sleep.isReaderOpen = false
      sleep.lock = nil
    }
  }

  // MARK: The bus

  private func connect() {
    guard !isConnecting else { return }
    isConnecting = true
    Task.immediate(executorPreference: LoopTasks.shared) {
      let socket = try? await sockets.socket(toBus: address)
      isConnecting = false
      guard let socket,
        let connection = try? BusConnection(
          busSocket: socket,
          handlers: .init(
            signal: { signal in self.assumeIsolated { $0.receive(signal) } },
            closed: { self.assumeIsolated { $0.lostBus() } }))
      else { return }
      self.connection = connection
      do throws(BusError) {
        let name = Self.manager.destination ?? ""
        try await connection.subscribe(to: MessageBus.nameOwnerChanged, of: MessageBus.target, argument: name)
        try await connection.subscribe(to: Self.prepareForSleep, of: Self.manager)
        let current = try await connection.owner(of: name)
        // A signal that the bus sent after its answer may have been handled before the answer.
        if !isOwnerKnown { changeOwner(to: current) }
      } catch {
        connection.close()
      }
    }
  }

  private func lostBus() {
    connection = nil
    changeOwner(to: nil)
    isOwnerKnown = false
  }

  /// logind was restarted: it does not have the lock, and does not signal the end of a sleep announced before.
  private func changeOwner(to name: String?) {
    isOwnerKnown = true
    guard name != owner else { return }
    owner = name
    lock = nil
    isSystemAsleep = false
    follow()
  }

  private func receive(_ signal: BusSignal) {
    let bus = MessageBus.target
    if signal.sender == bus.destination, signal.interface == bus.interface, signal.member == MessageBus.nameOwnerChanged
    {
      let arguments = signal.arguments.compactMap(\.asString)
      guard arguments.count == 3, arguments[0] == Self.manager.destination else { return }
      changeOwner(to: arguments[2].isEmpty ? nil : arguments[2])
    } else if let owner, signal.sender == owner, signal.path == Self.manager.path,
      signal.interface == Self.manager.interface, signal.member == Self.prepareForSleep,
      let begins = signal.arguments.first?.asBoolean
    {
      isSystemAsleep = begins
      follow()
    }
  }

  // MARK: The reader and the lock

  /// Suspends or resumes the reader until its state is that of the system, which may change meanwhile.
  private func follow() {
    guard !isFollowing else { return }
    isFollowing = true
    Task.immediate(executorPreference: LoopTasks.shared) {
      while isReaderAsleep != isSystemAsleep {
        let sleeps = isSystemAsleep
        // Ignore errors: the next scan reports them.
        if sleeps { try? await reader.suspend() } else { try? await reader.resume() }
        isReaderAsleep = sleeps
        if sleeps { lock = nil }
      }
      isFollowing = false
      takeLock()
    }
  }

  private func takeLock() {
    guard isReaderOpen, !isSystemAsleep, lock == nil, !isAskingForLock, let connection, let owner else { return }
    isAskingForLock = true
    var logind = Self.manager
    logind.destination = owner
    Task.immediate(executorPreference: LoopTasks.shared) {
      let answer = try? await connection.call(
        logind, "Inhibit",
        [.string("sleep"), .string("Whorl"), .string("A fingerprint reader is in use"), .string("delay")])
      isAskingForLock = false
      let isWanted = isReaderOpen && !isSystemAsleep && self.owner == owner
      if isWanted { lock = answer?.first?.asDescriptor }
      // The lock is from an earlier logind.
      if self.owner != owner { takeLock() }
    }
  }
}
