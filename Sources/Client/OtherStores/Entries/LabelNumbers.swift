/// Gives each label of an entry once: the second "pin" becomes "pin 2".
struct LabelNumbers: Sendable {
  private var counts: [String: Int] = [:]
  private var given: Set<String> = []

  /// The label, with the first number from 2 on that makes it a new one if it was given before.
  mutating func next(_ label: String) -> String {
    var number = counts[label, default: 0]
    var result: String
    repeat {
      number += 1
      result = number == 1 ? label : "\(label) \(number)"
    } while !given.insert(result).inserted
    counts[label] = number
    return result
  }
}
