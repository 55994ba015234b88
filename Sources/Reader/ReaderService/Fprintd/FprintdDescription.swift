internal import Fingerprint
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
      enrollStages: Swift.max(0, Int(properties["num-enroll-stages"]?.asInt32 ?? 0)),
      features: [.identify, .verify, .storage, .storageList, .storageDelete, .storageClear], temperature: .cold,
      nature: nature)
  }
}

extension FprintdConnection {
  /// fprintd's readers, with their object paths. Readers of the same name get a number.
  func devices(_ nature: ReaderDescription.Nature) async throws(ReaderError) -> [(
    path: String, description: ReaderDescription
  )] {
    let answer = try await call(FprintdNames.managerPath, FprintdNames.manager, "GetDevices")
    let paths = (answer.first?.asArray ?? []).compactMap(\.asObjectPath)
    var devices: [(String, ReaderDescription)] = []
    var seen: [String: Int] = [:]
    for path in paths.sorted() {
      do throws(ReaderError) {
        let properties = try await properties(of: path)
        let name = properties.readerName
        seen[name, default: 0] += 1
        let count = seen[name, default: 1]
        devices.append(
          (path, ReaderDescription(fprintd: count == 1 ? name : "\(name) #\(count)", properties, nature: nature)))
      } catch .removed {
        // The reader was unplugged between the two calls.
      }
    }
    return devices
  }

  func properties(of path: String) async throws(ReaderError) -> [String: BusValue] {
    let answer = try await call(path, FprintdNames.properties, "GetAll", [.string(FprintdNames.device)])
    return answer.first?.asDictionary ?? [:]
  }
}
