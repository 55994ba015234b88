// libfprint's devices: the list of them, one of them, its USB device, and the thread that all of it runs on.

internal import CFprint
internal import Glibc
internal import Primitives

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

  /// Closes it, even if the task is cancelled.
  func close(isolation: isolated any Actor = #isolation) async -> Result<Void, GLibError> {
    await finished {
      fp_device_close(pointer, nil, $0, $1)
    } finish: { result in
      GLibError.catching { _ = fp_device_close_finish(pointer, result, $0) }
    }
  }

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

/// `fprintd` if it runs, since it usually has the reader open. This process is confined and cannot see which files
/// other programs have open.
func likelyHolder() -> String? {
  let processes = (Folder.names(in: "/proc") ?? []).filter { Int($0) != nil && $0 != String(getpid()) }
  return processes.contains { smallFile("/proc/\($0)/comm") == "fprintd" } ? "fprintd" : nil
}

extension ReaderError {
  /// Adds details to an error of opening: the program that has the device open, or the node without permission.
  func explained(opening device: Device) -> ReaderError {
    switch self {
    case .permissionDenied: .permissionDenied(SysfsUSBDevice(of: device)?.node)
    case .busy: .busy(holder: likelyHolder())
    default: self
    }
  }
}

extension SysfsUSBDevice {
  /// The USB device that libfprint drives as this device; nil for a virtual reader and for one on another bus.
  init?(of device: Device) {
    guard let usb = device.object.object("fpi-usb-device"), let functions = LibgusbFunctions.shared else { return nil }
    let pointer = OpaquePointer(usb.pointer)
    let bus = Int(functions.bus(pointer))
    let address = Int(functions.address(pointer))
    guard let found = Self.all().first(where: { $0.bus == bus && $0.address == address }) else { return nil }
    self = found
  }
}

/// Two functions of libgusb. libfprint links the library, but libfprint's development package does not depend on that
/// of libgusb, so the header may be missing.
private struct LibgusbFunctions: Sendable {
  typealias NumberOfDevice = @convention(c) @Sendable (OpaquePointer) -> UInt8

  let bus: NumberOfDevice
  let address: NumberOfDevice

  static let shared = LibgusbFunctions()

  private init?() {
    // guint8 g_usb_device_get_bus (GUsbDevice *device), and the same with address: transfer none.
    guard let bus = dlsym(nil, "g_usb_device_get_bus"), let address = dlsym(nil, "g_usb_device_get_address") else {
      return nil
    }
    self.bus = unsafeBitCast(bus, to: NumberOfDevice.self)
    self.address = unsafeBitCast(address, to: NumberOfDevice.self)
  }
}

/// The devices of one `FpContext`.
struct Catalogue: Sendable {
  private let context: GObjectReference
  private let nature: ReaderDescription.Nature

  /// Looks for devices and waits until each is probed. Iterates the main context.
  init(nature: ReaderDescription.Nature) {
    self.nature = nature
    // fp_context_new: transfer full.
    context = GObjectReference(adopting: UnsafeMutableRawPointer(fp_context_new()))
    fp_context_enumerate(pointer)
  }

  private var pointer: UnsafeMutablePointer<FpContext> {
    context.pointer.assumingMemoryBound(to: FpContext.self)
  }

  /// The devices that are attached now.
  ///
  /// An id is the driver and the place the device is plugged in at, such as `synaptics:1-9`.
  func devices() -> [(id: String, device: Device)] {
    // fp_context_get_devices: transfer none. It iterates the main context while a device is being probed.
    guard let array = fp_context_get_devices(pointer) else { return [] }
    let all = (0..<Int(array.pointee.len)).compactMap { array.pointee.pdata[$0].map { Device(retaining: $0) } }
    var seen: [String: Int] = [:]
    return all.filter { $0.isVirtual == (nature == .virtual) && !$0.isRemoved }.map { device in
      let place = SysfsUSBDevice(of: device)?.name ?? String(cString: fp_device_get_device_id(device.pointer))
      let id = "\(device.driver):\(place)"
      seen[id, default: 0] += 1
      let count = seen[id, default: 1]
      return (count == 1 ? id : "\(id)#\(count)", device)
    }
  }
}

/// The thread that libfprint runs on.
package enum MainContext {
  /// Makes the calling thread the one that libfprint runs on. Does not return.
  ///
  /// If this is the main thread, the main actor is blocked from then on. Start the program's work before, with
  /// `Task.detached`, because a `Task` in `main.swift` belongs to the main actor.
  package static func run() -> Never {
    GLibLog.silence()
    MainContextExecutor.run()
  }

  /// Runs libfprint on a new thread, for a program that needs its main thread.
  package static func runOnThread() {
    GLibLog.silence()
    MainContextExecutor.runOnThread()
  }
}
