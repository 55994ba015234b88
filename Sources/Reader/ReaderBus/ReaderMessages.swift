package import Primitives
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

  /// A request of each method. What is read takes the place of its arguments.
  static func sample(of method: ReaderInterface.Method) -> ReaderRequest {
    let nonce = ScanNonce(bytes: [])
    return switch method {
    case .readers: .readers
    case .open: .open("", .own)
    case .prepare: .prepare
    case .close: .close
    case .enroll: .enroll(nil)
    case .identify: .identify([], nonce)
    case .verify: .verify(EnrolledPrint(id: EnrolmentID(bytes: []), template: Template(bytes: [])), nonce)
    case .capture: .capture(includingImage: false)
    case .storedPrints: .storedPrints([])
    case .delete: .delete(Template(bytes: []))
    case .clearStorage: .clearStorage
    case .suspend: .suspend
    case .resume: .resume
    case .cancel: .cancel
    }
  }

  /// Passes the arguments through a message.
  private func coded(_ message: inout MessageFields) throws -> ReaderRequest {
    switch self {
    case .readers, .prepare, .close, .clearStorage, .suspend, .resume, .cancel: return self
    case .open(let id, let user): return .open(try message(Word(id)).word, try message(user))
    case .enroll(let finger): return .enroll(try message(OptionalWord(finger)).value)
    case .identify(let prints, let nonce):
      let nonce = try message(nonce)
      return .identify(try message(prints), nonce)
    case .verify(let print, let nonce):
      let (nonce, id) = (try message(nonce), try message(print.id))
      return .verify(EnrolledPrint(id: id, template: try message(print.template)), nonce)
    case .capture(let includingImage): return .capture(includingImage: try message(includingImage))
    case .storedPrints(let prints): return .storedPrints(try message(prints))
    case .delete(let template): return .delete(try message(template))
    }
  }

  package func arguments(call: UInt64) -> [BusValue] {
    [.uint64(call)] + MessageFields.written { _ = try coded(&$0) }
  }

  /// Reads the arguments of a method after the number of the call. Nil if they have the wrong types.
  package init?(_ method: ReaderInterface.Method, _ arguments: some Collection<BusValue>) {
    let read = try? MessageFields.read(Array(arguments)) { try Self.sample(of: method).coded(&$0) }
    guard let read else { return nil }
    self = read
  }
}

/// An answer of the reader process to a ``ReaderRequest``.
package enum ReaderAnswer: Sendable {
  case done
  case readers([ReaderDescription])
  case reader(ReaderDescription)
  case template(Template)
  case scan(ScanAnswer)
  case capture(CaptureOutcome)
  case chip(ChipList)

  /// The maximum number of readers in a list.
  package static let mostReaders = 64
  /// The size limit of a template in bytes. Those of libfprint have some kilobytes.
  package static let largestTemplate = 1 << 20

  /// An answer to a request. What is read takes the place of its values.
  static func sample(for request: ReaderRequest) -> ReaderAnswer {
    switch request {
    case .close, .delete, .clearStorage, .suspend, .resume, .cancel: .done
    case .readers: .readers([])
    case .open, .prepare: .reader(.sample)
    case .enroll: .template(Template(bytes: []))
    case .identify, .verify: .scan(ScanAnswer(nonce: ScanNonce(bytes: []), outcome: .noMatch, finishedAt: 0))
    case .capture: .capture(.retry(.general))
    case .storedPrints: .chip(ChipList(present: [], unknown: []))
    }
  }

  /// Passes the values through a message.
  private func coded(_ message: inout MessageFields) throws -> ReaderAnswer {
    switch self {
    case .done: self
    case .readers(let readers): .readers(try message(readers))
    case .reader(let reader): .reader(try message(reader))
    case .template(let template): .template(try message(template))
    case .scan(let answer): .scan(try message(answer))
    case .capture(let outcome): .capture(try message(outcome))
    case .chip(let list): .chip(try message(list))
    }
  }

  package var values: [BusValue] { MessageFields.written { _ = try coded(&$0) } }

  /// Reads the answer to a request. Nil if the values are not an answer to it, or larger than one.
  package init?(to request: ReaderRequest, _ values: [BusValue]) {
    guard values.signature == request.method.results,
      let read = try? MessageFields.read(values, { try Self.sample(for: request).coded(&$0) }),
      read.isWithinLimits(of: request)
    else { return nil }
    self = read
  }

  private func isWithinLimits(of request: ReaderRequest) -> Bool {
    switch (self, request) {
    case (.readers(let readers), _): readers.count <= Self.mostReaders
    case (.template(let template), _): template.bytes.count <= Self.largestTemplate
    case (.capture(.picture(let picture)), .capture(let includingImage)): (picture.file != nil) == includingImage
    default: true
    }
  }
}

extension ReaderInterface.Method {
  /// The D-Bus signature of the arguments.
  package var arguments: String { ReaderRequest.sample(of: self).arguments(call: 0).signature }

  /// The D-Bus signature of the results.
  package var results: String { ReaderAnswer.sample(for: ReaderRequest.sample(of: self)).values.signature }
}
