internal import CFprint
internal import GLibKit
internal import Glibc

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
