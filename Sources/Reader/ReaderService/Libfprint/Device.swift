internal import CFprint
internal import Fingerprint
internal import GLibKit

/// An `FpDevice`. Used only on the main context's thread.
struct Device: Sendable {
  let object: GObjectReference

  /// Adds a reference to a device that libfprint owns (transfer none).
  init(retaining device: UnsafeMutableRawPointer) {
    object = GObjectReference(retaining: device)
  }

  var pointer: UnsafeMutablePointer<FpDevice> {
    object.pointer.assumingMemoryBound(to: FpDevice.self)
  }

  /// libfprint's name for the driver, such as `synaptics`. (Transfer none, as every string of a device.)
  var driver: String { String(cString: fp_device_get_driver(pointer)) }

  /// Whether the driver is one of libfprint's virtual ones, which take fingers from a socket.
  var isVirtual: Bool { driver.hasPrefix("virtual_") }

  /// Whether the device was unplugged. It still has to be closed.
  var isRemoved: Bool { object.bool("removed") }

  func describe(id: String, nature: ReaderDescription.Nature) -> ReaderDescription {
    let usb = SysfsUSBDevice(of: self)
    return ReaderDescription(
      id: id,
      name: fp_device_get_name(pointer).map { String(cString: $0) } ?? driver,
      identity: ReaderIdentity(
        driver: driver, vendor: usb?.vendor, product: usb?.product, serial: usb?.serial, fixedPort: usb?.fixedPort),
      scanType: fp_device_get_scan_type(pointer) == FP_SCAN_TYPE_SWIPE ? .swipe : .press,
      enrollStages: Int(fp_device_get_nr_enroll_stages(pointer)),
      features: features,
      temperature: temperature,
      nature: nature)
  }

  private var temperature: ReaderDescription.Temperature {
    switch fp_device_get_temperature(pointer) {
    case FP_TEMPERATURE_COLD: .cold
    case FP_TEMPERATURE_WARM: .warm
    // Treat an unknown value as the hottest.
    default: .hot
    }
  }

  private var features: Set<ReaderDescription.Feature> {
    let flags = fp_device_get_features(pointer).rawValue
    return Set(ReaderDescription.Feature.allCases.filter { flags & $0.flag.rawValue != 0 })
  }
}

extension ReaderDescription.Feature {
  fileprivate var flag: FpDeviceFeature {
    switch self {
    case .capture: FP_DEVICE_FEATURE_CAPTURE
    case .identify: FP_DEVICE_FEATURE_IDENTIFY
    case .verify: FP_DEVICE_FEATURE_VERIFY
    case .storage: FP_DEVICE_FEATURE_STORAGE
    case .storageList: FP_DEVICE_FEATURE_STORAGE_LIST
    case .storageDelete: FP_DEVICE_FEATURE_STORAGE_DELETE
    case .storageClear: FP_DEVICE_FEATURE_STORAGE_CLEAR
    case .duplicatesCheck: FP_DEVICE_FEATURE_DUPLICATES_CHECK
    case .alwaysOn: FP_DEVICE_FEATURE_ALWAYS_ON
    case .updatePrint: FP_DEVICE_FEATURE_UPDATE_PRINT
    }
  }
}
