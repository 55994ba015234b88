/// A print as libfprint serialises it (`fp_print_serialize`), opaque and parsed in the reader process alone; or, through
/// fprintd, what stands for a print that fprintd keeps (``FprintdPrint``).
package struct Template: Sendable, Hashable {
  package var bytes: [UInt8]

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }
}

/// Names one enrolment of one finger; random, never reused, so a finger enrolled again is another enrolment.
package struct EnrolmentID: Sendable, Hashable {
  /// 16 random bytes.
  package var bytes: [UInt8]

  package init(bytes: [UInt8]) {
    self.bytes = bytes
  }
}

/// A template under the name the vault gave it.
package struct EnrolledPrint: Sendable, Hashable {
  package var id: EnrolmentID
  package var template: Template

  package init(id: EnrolmentID, template: Template) {
    self.id = id
    self.template = template
  }
}
