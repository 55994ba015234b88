/// Registers of the TPM that measure what the firmware and the boot loader have started (PCRs, in the bank of SHA-256).
package struct PlatformRegisters: Sendable, Hashable {
  /// The registers that only a restart of the machine resets.
  package static let permitted: ClosedRange<UInt8> = 0...15
  package static let none = PlatformRegisters(sorted: [])

  /// In ascending order.
  package let numbers: [UInt8]

  package var isEmpty: Bool { numbers.isEmpty }

  /// Nil if a number is not ``permitted``.
  package init?(_ numbers: [UInt8]) {
    guard numbers.allSatisfy({ Self.permitted.contains($0) }) else { return nil }
    self.init(sorted: Set(numbers).sorted())
  }

  private init(sorted numbers: [UInt8]) { self.numbers = numbers }
}
