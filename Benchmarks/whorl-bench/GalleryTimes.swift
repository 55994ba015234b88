import Primitives
import ReaderClient
import SecretModel
import Synchronization
import VirtualFinger

/// The time of a touch with 1, 5 and 10 enrolled fingers. It is measured through the vault, which tries the most
/// recently matched finger first, and with libfprint alone in the reader process.
///
/// The time runs from the finger on the sensor to the result, so both include finding the minutiae.
final class GalleryTimes: Sendable {
  static let sizes = [1, 5, 10]
  static let touches = 10

  let folder: String
  let program: String
  private let presses = Mutex<UInt64>(0)

  init(folder: String, program: String) {
    self.folder = folder
    self.program = program
  }

  func samples() async throws -> [Samples] {
    try await floor() + throughTheVault()
  }

  // MARK: The reader process alone

  private func floor() async throws -> [Samples] {
    let reader = VirtualImageReader(socket: "\(folder)/floor-reader")
    let process = ReaderProcess(program: program, selection: .virtualImage(socket: reader.socket))
    guard let description = try await process.readers().first else { throw BenchFailure("no virtual reader") }
    _ = try await process.open(description.id)
    var prints: [EnrolledPrint] = []
    for (number, finger) in Finger.allCases.enumerated() {
      let template = try await process.enroll { event in
        switch event {
        case .fingerNeeded, .retry: self.press(finger, reader)
        case .stage(let completed, let count) where completed < count: self.press(finger, reader)
        default: break
        }
      }
      prints.append(
        EnrolledPrint(id: EnrolmentID(bytes: [UInt8](repeating: UInt8(number), count: 16)), template: template))
    }
    var all: [Samples] = []
    for size in Self.sizes {
      for (place, at) in Self.places(size) {
        var samples = Samples(name: "libfprint alone, \(size) enrolled, \(place)")
        var gallery = Array(prints[..<size])
        gallery.swapAt(0, at)
        for _ in 0..<Self.touches {
          let touched = Mutex<UInt64>(0)
          let answer = try await process.identify(gallery, nonce: ScanNonce(bytes: [UInt8](repeating: 1, count: 16))) {
            guard $0 == .fingerNeeded else { return }
            touched.withLock { $0 = ScanClock.now() }
            self.press(Finger.allCases[0], reader)
          }
          if case .match = answer.outcome {
            samples.nanoseconds.append(answer.finishedAt - touched.withLock { $0 })
          }
        }
        all.append(samples)
      }
    }
    await process.shutdown()
    return all
  }

  // MARK: Through the vault

  private func throughTheVault() async throws -> [Samples] {
    let path = "\(folder)/gallery-store"
    let reader = VirtualImageReader(socket: "\(folder)/gallery-reader")
    let scratch = try await ScratchVault(at: path, reader: .virtualImage(socket: reader.socket))
    let vault = scratch.service
    let wanted = Mutex(Finger.allCases[0])
    let touchedAt = Mutex<UInt64>(0)
    let person = Toucher(recoveryKey: scratch.recoveryKey) { enrolling in
      touchedAt.withLock { $0 = ScanClock.now() }
      self.press(enrolling ?? wanted.withLock { $0 }, reader)
    }
    let item = try await scratch.add("gallery/item", "secret", .presence)
    var all: [Samples] = []
    var enrolled = 0
    for size in Self.sizes {
      while enrolled < size {
        _ = try await person.with(vault) { try await vault.enroll(Finger.allCases[enrolled], $0) }
        enrolled += 1
      }
      for (place, _) in Self.places(size) {
        var samples = Samples(name: "whole touch, \(size) enrolled, \(place)")
        for number in 0..<(Self.touches + size) {
          // The finger that matched longest ago is tried last, so taking the fingers in turn always measures the worst
          // case.
          wanted.withLock { $0 = Finger.allCases[place == "tried last" ? number % size : 0] }
          let end = try? await person.with(vault) { asking in
            _ = try await vault.secrets(.ids([item]), asking)
            return ScanClock.now()
          }
          // The first pass over the fingers only sets their order.
          if let end, number >= size { samples.nanoseconds.append(end - touchedAt.withLock { $0 }) }
        }
        all.append(samples)
      }
    }
    await scratch.close()
    return all
  }

  private static func places(_ size: Int) -> [(String, Int)] {
    size == 1 ? [("the only one", 0)] : [("tried first", 0), ("tried last", size - 1)]
  }

  /// Presses on another thread: the press returns when the reader has read it, and for that the caller must go on.
  private func press(_ finger: Finger, _ reader: VirtualImageReader) {
    let number = presses.withLock {
      $0 += 1
      return $0
    }
    Task.detached {
      try? await onOwnThread { () throws(VirtualReaderError) in try reader.press(Self.image(finger, number)) }
    }
  }

  private static func image(_ finger: Finger, _ number: UInt64) -> GrayImage {
    SyntheticFinger(person: 1, finger: finger).impression(number)
  }
}
