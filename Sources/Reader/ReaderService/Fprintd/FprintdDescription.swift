internal import Primitives
internal import SDBus

/// The properties that fprintd reports of a reader.
extension [String: BusValue] {
  /// The driver's name for display, without control characters.
  var readerName: String {
    let name = self["name"]?.asString ?? "a reader"
    return String(
      String.UnicodeScalarView(name.unicodeScalars.prefix(100).filter { $0.value >= 32 && $0.value != 127 }))
  }
}

extension [String: BusValue] {
  /// Whether this fprintd reports when a finger is needed and when one is present.
  var tellsFingers: Bool { self[FprintdNames.fingerNeeded] != nil && self[FprintdNames.fingerPresent] != nil }
}

extension ReaderDescription {
  /// - Parameter name: the reader's name, with a number if there are several of the same name.
  init(fprintd name: String, _ properties: [String: BusValue], nature: Nature) {
    // fprintd does not report these features. It identifies if the reader can, and stores the prints itself, on disk or
    // on the chip.
    self.init(
      id: ReaderAdapter.readerID(fprintdName: name), name: name, identity: ReaderIdentity(fprintdName: name),
      scanType: properties["scan-type"]?.asString == "swipe" ? .swipe : .press,
      enrollStages: properties["num-enroll-stages"]?.number(in: 0...Self.mostStages) ?? 0,
      features: [.identify, .verify, .storage, .storageList, .storageDelete, .storageClear], temperature: .cold,
      nature: nature)
  }
}

/// One of fprintd's readers.
struct FprintdDevice {
  /// The path of its D-Bus object.
  let path: String
  /// fprintd's name for it, which several readers can have.
  let name: String
  /// Whether this fprintd reports when a finger is needed and when one is present.
  let tellsFingers: Bool
  let description: ReaderDescription
}

extension FprintdConnection {
  /// fprintd's readers. In their descriptions, readers of the same name have a number.
  func devices(_ nature: ReaderDescription.Nature) async throws(ReaderError) -> [FprintdDevice] {
    let answer = try await call(FprintdNames.managerPath, FprintdNames.manager, "GetDevices")
    let paths = (answer.first?.asArray ?? []).compactMap(\.asObjectPath)
    var devices: [FprintdDevice] = []
    var seen: [String: Int] = [:]
    for path in paths.sorted() {
      do throws(ReaderError) {
        let properties = try await properties(of: path)
        let name = properties.readerName
        seen[name, default: 0] += 1
        let count = seen[name, default: 1]
        let description = ReaderDescription(
          fprintd: count == 1 ? name : "\(name) #\(count)", properties, nature: nature)
        devices.append(
          FprintdDevice(path: path, name: name, tellsFingers: properties.tellsFingers, description: description))
      } catch .removed {
        // The reader was unplugged between the two calls.
      }
    }
    return devices
  }

  /// This reader, followed by those that may be used in its place while another program has it: readers of the same
  /// name with the same fingers. Readers whose fingers fprintd does not list are left out.
  ///
  /// While the machine sleeps, a port can lose power. Its reader then comes back as a new one. fprintd keeps the old
  /// one until the program that has claimed it releases it, or for ever if libfprint waits for an answer of the old
  /// reader.
  func namesakes(
    of device: FprintdDevice, among devices: [FprintdDevice], for user: ReaderUser
  ) async -> [FprintdDevice] {
    let others = devices.filter { $0.name == device.name && $0.path != device.path }
    guard !others.isEmpty, let own = try? await fingers(on: device.path, of: user) else { return [device] }
    var namesakes = [device]
    for other in others {
      guard let fingers = try? await fingers(on: other.path, of: user), Set(fingers) == Set(own) else { continue }
      namesakes.append(other)
    }
    return namesakes
  }

  /// The fingers that the user has enrolled on this reader.
  func fingers(on path: String, of user: ReaderUser) async throws(ReaderError) -> [Finger] {
    let answer: [BusValue]
    do throws(ReaderError) {
      answer = try await call(path, FprintdNames.device, "ListEnrolledFingers", [.string(user.name)])
    } catch .notOnChip {
      return []
    }
    let names = (answer.first?.asArray ?? []).compactMap(\.asString)
    let fingers = names.compactMap(Finger.init(fprintdName:))
    guard fingers.count == names.count else { throw .device("fprintd lists an unknown finger") }
    return fingers
  }

  func properties(of path: String) async throws(ReaderError) -> [String: BusValue] {
    let answer = try await call(path, FprintdNames.properties, "GetAll", [.string(FprintdNames.device)])
    return answer.first?.asDictionary ?? [:]
  }
}

/// fprintd's open reader, and the user that it is open for.
struct FprintdOpenReader: Sendable {
  /// The path of its D-Bus object.
  let path: String
  let description: ReaderDescription
  /// Whether this fprintd reports when a finger is needed and when one is present.
  let tellsFingers: Bool
  let user: ReaderUser
  let templates: FprintdTemplates
}
