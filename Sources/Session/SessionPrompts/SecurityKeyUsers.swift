internal import Glibc
internal import Primitives

/// The programs that use the security key of this user, as far as this process can see: the kernel does not say who has
/// written a report, but it shows which programs of the user have the device open.
package enum SecurityKeyUsers {
  /// The one program that has the key open; nil where none has, or several have.
  ///
  /// A program that only looks at the key for a moment, and one of another user, is not seen. So the name is for the person,
  /// and grants nothing.
  ///
  /// - Parameters:
  ///   - devices: the kernel's folder of the devices, with what it knows of each.
  ///   - nodes: the folder in which programs open them.
  package static func only(devices: String = "/sys/class/hidraw", nodes: String = "/dev") -> ClientProgram? {
    guard let name = (Folder.names(in: devices) ?? []).first(where: { isOwn("\(devices)/\($0)/device/uevent") }) else {
      return nil
    }
    let node = "\(nodes)/\(name)"
    let users = ProcessStatus.processes.filter { process in
      (Folder.names(in: "/proc/\(process)/fd") ?? []).contains { target(of: "/proc/\(process)/fd/\($0)") == node }
    }
    var programs = users.map { ClientProgram($0) }
    guard let program = programs.popLast(), programs.allSatisfy({ $0.program == program.program }) else { return nil }
    return program
  }

  /// Whether `whorl-fido` has made a device for this user.
  private static func isOwn(_ description: String) -> Bool {
    guard let bytes = try? SmallFile.read(description, limit: 4_096) else { return false }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n").contains("HID_UNIQ=whorl-\(getuid())")
  }

  private static func target(of link: String) -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &bytes, bytes.count)
    return count < 0 ? nil : String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
