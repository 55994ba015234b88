package import Fingerprint

/// Drives libfprint's virtual match-on-chip reader: a finger is a word, and the chip a list of words.
///
/// Commands wait in line until an action of the reader takes them, so a scan may be sent before one is armed, and is
/// then the next action's. Only ``list()`` is answered at once.
package struct VirtualStorageReader: Sendable {
  /// The path libfprint was given.
  package let socket: String
  /// How long to wait for the reader to be opened, and for it to take what is sent.
  package let patience: Duration

  package init(socket: String, patience: Duration = .seconds(5)) {
    self.socket = socket
    self.patience = patience
  }

  /// Presents the finger of this name.
  package func scan(_ id: String) throws(VirtualReaderError) { try send("SCAN \(id)") }

  /// Puts a print onto the chip, as another system would have.
  package func insert(_ id: String) throws(VirtualReaderError) { try send("INSERT \(id)") }

  /// Takes a print off the chip.
  package func remove(_ id: String) throws(VirtualReaderError) { try send("REMOVE \(id)") }

  /// The names on the chip, as of the last action.
  package func list() throws(VirtualReaderError) -> [String] {
    let answer = try ReaderConnection.deliver(
      Array("LIST".utf8), to: socket, patience: patience, expectsAnswer: true)
    return answer.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Ends the next action with an error of the device.
  package func error(_ code: DeviceErrorCode) throws(VirtualReaderError) { try send("ERROR \(code.rawValue)") }

  /// Ends the next scan as one that told nothing.
  package func retry(_ reason: RetryReason) throws(VirtualReaderError) { try send("RETRY \(reason.deviceCode)") }

  /// Puts a finger on the sensor, or lifts it, without a scan.
  package func finger(present: Bool) throws(VirtualReaderError) { try send("FINGER \(present ? 1 : 0)") }

  /// Takes the reader away.
  package func unplug() throws(VirtualReaderError) { try send("UNPLUG") }

  /// Lets the reader take its time before the next command.
  package func sleep(milliseconds: Int) throws(VirtualReaderError) { try send("SLEEP \(milliseconds)") }

  /// How many touches an enrolment takes.
  package func setEnrollStages(_ count: Int) throws(VirtualReaderError) { try send("SET_ENROLL_STAGES \(count)") }

  /// Lets an action go on that waits for a word: clearing the chip fails without it after half a second.
  package func proceed() throws(VirtualReaderError) { try send("CONT ") }

  /// Whether scans end when they are cancelled; a reader whose scans do not stands for a driver that hangs.
  package func setCancellable(_ isCancellable: Bool) throws(VirtualReaderError) {
    try send("SET_CANCELLATION_ENABLED \(isCancellable ? 1 : 0)")
  }

  private func send(_ command: String) throws(VirtualReaderError) {
    _ = try ReaderConnection.deliver(Array(command.utf8), to: socket, patience: patience)
  }
}
