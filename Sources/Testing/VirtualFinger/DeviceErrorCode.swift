internal import Fingerprint

/// libfprint's `FpDeviceError`.
package struct DeviceErrorCode: RawRepresentable, Sendable, Hashable {
  package let rawValue: Int32

  package init(rawValue: Int32) {
    self.rawValue = rawValue
  }

  package static let general = DeviceErrorCode(rawValue: 0)
  package static let notSupported = DeviceErrorCode(rawValue: 1)
  package static let busy = DeviceErrorCode(rawValue: 4)
  package static let protocolError = DeviceErrorCode(rawValue: 5)
  package static let dataInvalid = DeviceErrorCode(rawValue: 6)
  package static let dataNotFound = DeviceErrorCode(rawValue: 7)
  package static let dataFull = DeviceErrorCode(rawValue: 8)
  package static let dataDuplicate = DeviceErrorCode(rawValue: 9)
  package static let removed = DeviceErrorCode(rawValue: 0x100)
  package static let tooHot = DeviceErrorCode(rawValue: 0x101)
}

extension RetryReason {
  /// The code of this reason in libfprint's `FpDeviceRetry`.
  var deviceCode: Int32 {
    switch self {
    case .general: 0
    case .tooShort: 1
    case .centerFinger: 2
    case .removeFinger: 3
    case .tooFast: 4
    }
  }
}
