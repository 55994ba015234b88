package import Fingerprint
package import SDBus

/// A call to the reader process: a method of ``ReaderInterface`` and its arguments after the number of the call.
package enum ReaderRequest: Sendable {
  case readers
  case open(String, ReaderUser)
  case prepare
  case close
  /// The name of the finger. An empty string on the bus means none.
  case enroll(Finger?)
  case identify([EnrolledPrint], ScanNonce)
  case verify(EnrolledPrint, ScanNonce)
  case capture(includingImage: Bool)
  case storedPrints([EnrolledPrint])
  case delete(Template)
  case clearStorage
  case suspend
  case resume
  case cancel

  package var method: ReaderInterface.Method {
    switch self {
    case .readers: .readers
    case .open: .open
    case .prepare: .prepare
    case .close: .close
    case .enroll: .enroll
    case .identify: .identify
    case .verify: .verify
    case .capture: .capture
    case .storedPrints: .storedPrints
    case .delete: .delete
    case .clearStorage: .clearStorage
    case .suspend: .suspend
    case .resume: .resume
    case .cancel: .cancel
    }
  }

  package func arguments(call: UInt64) -> [BusValue] {
    let number = BusValue.uint64(call)
    switch self {
    case .readers, .prepare, .close, .clearStorage, .suspend, .resume, .cancel: return [number]
    case .open(let id, let user): return [number, .string(id), .string(user.name)]
    case .enroll(let finger): return [number, .string(finger?.rawValue ?? "")]
    case .identify(let prints, let nonce): return [number, .bytes(nonce.bytes), prints.busValue]
    case .verify(let print, let nonce):
      return [number, .bytes(nonce.bytes), .bytes(print.id.bytes), .bytes(print.template.bytes)]
    case .capture(let includingImage): return [number, .boolean(includingImage)]
    case .storedPrints(let prints): return [number, prints.busValue]
    case .delete(let template): return [number, .bytes(template.bytes)]
    }
  }

  /// Reads the arguments of a method after the number of the call. Nil if they have the wrong types.
  package init?(_ method: ReaderInterface.Method, _ arguments: some Collection<BusValue>) {
    let arguments = Array(arguments)
    func bytes(_ index: Int) -> [UInt8]? { index < arguments.count ? arguments[index].asBytes : nil }
    switch method {
    case .readers: self = .readers
    case .prepare: self = .prepare
    case .close: self = .close
    case .clearStorage: self = .clearStorage
    case .suspend: self = .suspend
    case .resume: self = .resume
    case .cancel: self = .cancel
    case .open:
      guard arguments.count == 2, let id = arguments[0].asString,
        let user = arguments[1].asString.flatMap(ReaderUser.init(name:))
      else { return nil }
      self = .open(id, user)
    case .enroll:
      guard let name = arguments.first?.asString else { return nil }
      let finger = Finger(rawValue: name)
      guard finger != nil || name.isEmpty else { return nil }
      self = .enroll(finger)
    case .identify:
      guard let nonce = bytes(0), let prints = [EnrolledPrint](arguments.last) else { return nil }
      self = .identify(prints, ScanNonce(bytes: nonce))
    case .verify:
      guard let nonce = bytes(0), let id = bytes(1), let template = bytes(2) else { return nil }
      self = .verify(EnrolledPrint(id: id, template: template), ScanNonce(bytes: nonce))
    case .capture:
      guard let includingImage = arguments.first?.asBoolean else { return nil }
      self = .capture(includingImage: includingImage)
    case .storedPrints:
      guard let prints = [EnrolledPrint](arguments.last) else { return nil }
      self = .storedPrints(prints)
    case .delete:
      guard let template = bytes(0) else { return nil }
      self = .delete(Template(bytes: template))
    }
  }
}

extension EnrolledPrint {
  fileprivate init(id: [UInt8], template: [UInt8]) {
    self.init(id: EnrolmentID(bytes: id), template: Template(bytes: template))
  }
}

extension [EnrolledPrint] {
  fileprivate var busValue: BusValue {
    .array(of: "(ayay)", map { .structure([.bytes($0.id.bytes), .bytes($0.template.bytes)]) })
  }

  fileprivate init?(_ value: BusValue?) {
    guard let values = value?.asArray else { return nil }
    self = []
    for value in values {
      guard let members = value.asStructure, members.count == 2, let id = members[0].asBytes,
        let template = members[1].asBytes
      else { return nil }
      append(EnrolledPrint(id: id, template: template))
    }
  }
}
