package import Fingerprint

/// Drives libfprint's virtual match-on-chip reader, where a finger is a word and the chip holds a list of words.
///
/// The reader queues commands until one of its actions reads them, so a scan may be sent before it is armed: the next
/// action gets it. Only ``list()`` is answered at once.
package struct VirtualStorageReader: Sendable {
  /// The socket path that libfprint was given.
  package let socket: String
  /// How long to wait for the reader to be opened and to read what was sent.
  package let patience: Duration

  package init(socket: String, patience: Duration = .seconds(5)) {
    self.socket = socket
    self.patience = patience
  }

  /// Presents the finger with this name.
  package func scan(_ id: String) throws(VirtualReaderError) { try send("SCAN \(id)") }

  /// Stores a print on the chip, as another system would.
  package func insert(_ id: String) throws(VirtualReaderError) { try send("INSERT \(id)") }

  /// Deletes a print from the chip.
  package func remove(_ id: String) throws(VirtualReaderError) { try send("REMOVE \(id)") }

  /// The names on the chip after the last action.
  package func list() throws(VirtualReaderError) -> [String] {
    let answer = try ReaderConnection.deliver(
      Array("LIST".utf8), to: socket, patience: patience, expectsAnswer: true)
    return answer.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Ends the next action with a device error.
  package func error(_ code: DeviceErrorCode) throws(VirtualReaderError) { try send("ERROR \(code.rawValue)") }

  /// Ends the next scan with a retry error.
  package func retry(_ reason: RetryReason) throws(VirtualReaderError) { try send("RETRY \(reason.deviceCode)") }

  /// Puts a finger on the sensor, or lifts it, without a scan.
  package func finger(present: Bool) throws(VirtualReaderError) { try send("FINGER \(present ? 1 : 0)") }

  /// Unplugs the reader.
  package func unplug() throws(VirtualReaderError) { try send("UNPLUG") }

  /// Makes the reader wait before it handles the next command.
  package func sleep(milliseconds: Int) throws(VirtualReaderError) { try send("SLEEP \(milliseconds)") }

  /// Sets how many touches an enrolment takes.
  package func setEnrollStages(_ count: Int) throws(VirtualReaderError) { try send("SET_ENROLL_STAGES \(count)") }

  /// Continues an action that waits for a command. Clearing the chip fails if none comes within half a second.
  package func proceed() throws(VirtualReaderError) { try send("CONT ") }

  /// Whether scans can be cancelled. Switch this off to simulate a driver that hangs.
  package func setCancellable(_ isCancellable: Bool) throws(VirtualReaderError) {
    try send("SET_CANCELLATION_ENABLED \(isCancellable ? 1 : 0)")
  }

  private func send(_ command: String) throws(VirtualReaderError) {
    _ = try ReaderConnection.deliver(Array(command.utf8), to: socket, patience: patience)
  }
}
