internal import Fingerprint
internal import SDBus

/// What fprintd tells of a reader of its.
extension [String: BusValue] {
  /// The driver's name for people, as far as it can stand in a line.
  var readerName: String {
    let name = self["name"]?.asString ?? "a reader"
    return String(
      String.UnicodeScalarView(name.unicodeScalars.prefix(100).filter { $0.value >= 32 && $0.value != 127 }))
  }
}

extension ReaderDescription {
  /// - Parameter name: the reader's, made different from that of another of the same make.
  init(fprintd name: String, _ properties: [String: BusValue], nature: Nature) {
    // What fprintd does not tell is what it does by itself: it looks for any finger where the reader can, and keeps
    // the prints, here or on the chip.
    self.init(
      id: "fprintd:\(name)", name: name, identity: ReaderIdentity(fprintdName: name),
      scanType: properties["scan-type"]?.asString == "swipe" ? .swipe : .press,
      enrollStages: Swift.max(0, Int(properties["num-enroll-stages"]?.asInt32 ?? 0)),
      features: [.identify, .verify, .storage, .storageList, .storageDelete, .storageClear], temperature: .cold,
      nature: nature)
  }
}
