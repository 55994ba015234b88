import Dispatch
import Glibc
package import Primitives
import Synchronization

/// Counts the USB devices that are plugged in and pulled out, but only while the count is referenced.
///
/// Watches the folders in which the kernel makes and removes the nodes of devices. This opens no device.
package final class DeviceWatch: Sendable {
  private struct Shared {
    weak var running: RunningDeviceWatch?
  }

  private let root: String
  private let shared = Mutex(Shared())

  /// - Parameter root: the folder of the folders of buses; tests use their own.
  package init(of root: String = "/dev/bus/usb") { self.root = root }

  /// The count, which all holders share.
  package func start() -> RunningDeviceWatch {
    shared.withLock { shared in
      if let running = shared.running { return running }
      let started = RunningDeviceWatch(root)
      shared.running = started
      return started
    }
  }
}

/// A watch that runs for as long as it is referenced.
package final class RunningDeviceWatch: Sendable {
  package let count = GrowingCount()
  private let source: Mutex<(any DispatchSourceRead)?>

  /// Counts nothing if there are no such folders, or the kernel's limit of watches is reached.
  fileprivate init(_ root: String) {
    let descriptor = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC))
    guard descriptor >= 0 else {
      source = Mutex(nil)
      return
    }
    Self.watch(root, on: descriptor)
    let source = DispatchSource.makeReadSource(
      fileDescriptor: descriptor, queue: DispatchQueue(label: "whorl.devices"))
    source.setEventHandler { [count] in
      var buffer = [UInt8](repeating: 0, count: 4_096)
      while read(descriptor, &buffer, buffer.count) > 0 {}
      // A bus may be new.
      Self.watch(root, on: descriptor)
      count.increment()
    }
    source.setCancelHandler { close(descriptor) }
    source.activate()
    self.source = Mutex(source)
  }

  deinit { source.withLock { $0?.cancel() } }

  /// Adding a folder that is watched already changes nothing.
  private static func watch(_ root: String, on descriptor: Int32) {
    let events = UInt32(IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ONLYDIR)
    inotify_add_watch(descriptor, root, events)
    for bus in Folder.names(in: root) ?? [] where !bus.hasPrefix(".") {
      inotify_add_watch(descriptor, "\(root)/\(bus)", events)
    }
  }
}
