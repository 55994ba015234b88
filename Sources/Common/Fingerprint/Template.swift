/// A print as libfprint serialises it (`fp_print_serialize`), opaque and parsed in the reader process alone; or for
/// fprintd's readers an encoded ``FprintdPrint``.
package struct Template: Sendable, Hashable {
  package var bytes: [UInt8]

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }
}

/// Identifies one enrolment of one finger. It is random and never reused: a finger enrolled again gets another one.
package struct EnrolmentID: Sendable, Hashable {
  /// 16 random bytes.
  package var bytes: [UInt8]

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }
}

/// A template and the id that the vault gave it.
package struct EnrolledPrint: Sendable, Hashable {
  package var id: EnrolmentID
  package var template: Template

  package init(id: EnrolmentID, template: Template) {
    self.id = id
    self.template = template
  }
}
