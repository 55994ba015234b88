extension Unicode.Scalar {
  /// Whether it is a space or line end of any kind, or a letter that looks like a space.
  package var looksLikeSpace: Bool {
    switch properties.generalCategory {
    case .spaceSeparator, .lineSeparator, .paragraphSeparator: true
    default: [0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x85, 0x115F, 0x1160, 0x2800, 0x3164, 0xFFA0].contains(value)
    }
  }

  /// Whether nothing is seen of it where text is shown, or nothing that is the same everywhere: control characters, marks
  /// of the reading direction, joiners, characters that no standard defines.
  package var isUnseen: Bool {
    switch properties.generalCategory {
    case .control, .format, .privateUse, .surrogate, .unassigned: true
    default: properties.isDefaultIgnorableCodePoint
    }
  }
}

extension String {
  /// The text without what is not seen of it, with single spaces. Two texts that differ in such characters alone become
  /// the same.
  package var seen: String {
    var scalars = UnicodeScalarView()
    for scalar in unicodeScalars {
      if scalar.looksLikeSpace { scalars.append(" ") } else if !scalar.isUnseen { scalars.append(scalar) }
    }
    return String(scalars).split(separator: " ").joined(separator: " ")
  }
}
