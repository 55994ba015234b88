internal import CFprint
internal import Fingerprint
internal import GLibKit

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
