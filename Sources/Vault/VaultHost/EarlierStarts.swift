internal import Glibc
internal import Primitives

/// The starts of a program that did not end in order, and how long a start waits because of them.
///
/// A program that can crash another one could try again as fast as it is restarted. So each start that follows others
/// soon waits longer. The wait is short enough for a client or a login to get its answer after it: one who can crash the
/// program closes a store anyway, and must not gain an outage that goes on by itself.
struct RepeatedStarts: Sendable {
  /// How far back starts count.
  private static let window = Duration.seconds(600)
  /// How many starts are kept. More would not make the wait longer.
  private static let most = 16
  /// How many starts are followed by no wait: an upgrade, a machine that is being set up.
  private static let free = 3
  private static let longest = Duration.seconds(10)

  /// When they were, in nanoseconds since the machine has started.
  private(set) var times: [UInt64] = []

  /// Notes a start, and returns how long it has to wait before it serves anybody.
  ///
  /// - Parameter now: the time since the machine has started, in nanoseconds.
  mutating func note(at now: UInt64) -> Duration {
    let oldest = now - min(now, UInt64(Self.window.components.seconds) * 1_000_000_000)
    // A time to come is from nowhere.
    let counted = times.filter { (oldest...now).contains($0) }.suffix(Self.most - 1)
    times = counted + [now]
    guard counted.count > Self.free else { return .zero }
    return min(.seconds(1 << min(counted.count - Self.free - 1, 4)), Self.longest)
  }
}

/// The starts of the service itself.
///
/// systemd restarts it after every crash, without a limit, and always after the same short time, so the service itself
/// waits (``RepeatedStarts``).
///
/// The file is in a folder that only the service can write to, and that ends with the boot. A file that cannot be read
/// or written means no wait: it must not keep the service from serving.
package struct EarlierStarts: Sendable {
  private let file: String

  /// - Parameter folder: systemd makes it for the service. Without it there is no wait.
  package init(in folder: String) { file = folder + "/starts" }

  /// Notes a start, and returns how long it has to wait before it serves anybody.
  ///
  /// - Parameter now: the time since the machine has started, in nanoseconds.
  package func note(at now: UInt64) -> Duration {
    var starts = RepeatedStarts(times: noted())
    defer { write(starts.times) }
    return starts.note(at: now)
  }

  /// Forgets all starts, since the service has been told to end.
  package func forget() { unlink(file) }

  private func noted() -> [UInt64] {
    guard let bytes = try? SmallFile.read(file, limit: 1 << 10) else { return [] }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { UInt64($0) }
  }

  private func write(_ starts: some Sequence<UInt64>) {
    let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let bytes = Array(starts.map { "\($0)\n" }.joined().utf8)
    // write: reads as many bytes as it is told. After a failure fewer starts are known, and the wait is shorter.
    _ = Glibc.write(descriptor, bytes, bytes.count)
  }
}
