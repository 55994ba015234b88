import SDBus
import Testing

/// A request and an answer with the same fields, and what a record can have.
private struct Order: StrictBusRecord, Hashable {
  var count: Int
  var note: String?
  var isUrgent: Bool
  var place: Place
  var payment: Payment

  init(count: Int, note: String?, isUrgent: Bool, place: Place, payment: Payment) {
    (self.count, self.note, self.isUrgent, self.place, self.payment) = (count, note, isUrgent, place, payment)
  }

  init(_ f: inout Fields<Self>) throws {
    self.init(
      count: try f("count", \.count), note: try f("note", \.note),
      isUrgent: try f("urgent", \.isUrgent, usually: false), place: try f("place", \.place),
      payment: try f.among(\.payment))
  }

  func check() throws {
    guard count > 0 else { throw BusValueError.unreadable(what: "an empty order") }
  }
}

private struct Confirmation: BusRecord, Hashable {
  var number: Int

  init(number: Int) { self.number = number }
  init(_ f: inout Fields<Self>) throws { number = try f.small("number", \.number, in: 1...9) }
}

private struct Place: BusStructure, Hashable {
  var street: String
  var number: Int

  init(street: String, number: Int) { (self.street, self.number) = (street, number) }
  static var busSignature: String { "(ayx)" }
  init(_ f: inout Fields<Self>) throws {
    (street, number) = (try f("street", \.street), try f("number", \.number))
  }
}

private enum Payment: StrictBusChoice, Hashable {
  case cash
  case card(number: Int, name: String?)
  case cheque([UInt8])

  static var kindKey: String { "payment" }
  static let samples: [Self] = [.cash, .card(number: 0, name: nil), .cheque([])]

  func coded(_ f: inout KindFields) throws -> Self {
    switch self {
    case .cash: f.kind("cash", self)
    case .card(let number, let name): .card(number: try f("card", "card-number", number), name: try f("name", name))
    case .cheque(let bytes): .cheque(try f("cheque", "bytes", bytes))
    }
  }
}

@Suite("Fields of a value that crosses a bus")
struct BusFieldsTests {
  private static let order = Order(
    count: 2, note: nil, isUrgent: false, place: Place(street: "Mühlweg", number: 7), payment: .cash)

  private func entries(_ order: Order = order) throws -> [String: BusValue] {
    try #require(order.busValue.asDictionary)
  }

  @Test("a record, a structure and a choice are read as they were written, with all of their fields")
  func wholeWay() throws {
    var orders = [Self.order]
    for payment: Payment in [.card(number: 4, name: "Alice"), .card(number: 4, name: nil), .cheque([1, 2])] {
      orders.append(Order(count: 1, note: "\u{FFFE}", isUrgent: true, place: Self.order.place, payment: payment))
    }
    for order in orders { #expect(try Order(bus: order.busValue) == order) }
    #expect(try [Order](bus: orders.busValue) == orders)
    #expect(orders.busValue.signature == "aa{sv}" && [Place]().busValue.signature == "a(ayx)")
  }

  @Test("a field that is nil, or has its usual value, is left out of a record")
  func leftOut() throws {
    #expect(Set(try entries().keys) == ["count", "place", "payment"])
    var urgent = Self.order
    urgent.isUrgent = true
    #expect(try entries(urgent)["urgent"] == .boolean(true))
  }

  @Test("unknown fields and kinds are refused in a request, with their names, and ignored in an answer")
  func unknown() throws {
    var newer = try entries()
    newer["discount"] = .int64(1)
    #expect(throws: BusValueError.unknownField("discount", of: "Order")) { try Order(bus: .dictionary(newer)) }
    newer = try entries()
    newer["payment"] = .string("shells")
    #expect(throws: BusValueError.unknownField("shells", of: "Payment")) { try Order(bus: .dictionary(newer)) }
    #expect(throws: BusValueError.unknownField("shells", of: "Payment")) {
      try Payment(bus: .dictionary(["payment": .string("shells")]))
    }
    #expect(throws: BusValueError.unknownField("card-number", of: "Payment")) {
      try Payment(bus: .dictionary(["payment": .string("cash"), "card-number": .int64(1)]))
    }
    let answer = BusValue.dictionary(["number": .int64(3), "later": .boolean(true)])
    #expect(try Confirmation(bus: answer) == Confirmation(number: 3))
  }

  @Test("a value is refused if a field is missing, of another type or out of range, or if the whole breaks a rule")
  func malformed() throws {
    for key in try entries().keys {
      var wrong = try entries()
      wrong[key] = nil
      #expect(throws: BusValueError.self, "no \(key)") { try Order(bus: .dictionary(wrong)) }
      wrong[key] = .double(1)
      #expect(throws: BusValueError.self, "\(key)") { try Order(bus: .dictionary(wrong)) }
    }
    for number: Int64 in [.min, -2, 0x20_0000_0000_0001, .max] {
      #expect(throws: BusValueError.self, "\(number)") { try Place(bus: .structure([.bytes([]), .int64(number)])) }
    }
    for number: UInt32 in [0, 10, .max] {
      #expect(throws: BusValueError.self) { try Confirmation(bus: .dictionary(["number": .uint32(number)])) }
    }
    for members: [BusValue] in [[], [.bytes([])], [.bytes([]), .int64(1), .int64(1)], [.bytes([0xFF]), .int64(1)]] {
      #expect(throws: BusValueError.self) { try Place(bus: .structure(members)) }
    }
    var empty = try entries()
    empty["count"] = .int64(0)
    #expect(throws: BusValueError.unreadable(what: "an empty order")) { try Order(bus: .dictionary(empty)) }
    for value: BusValue in [.string(""), .structure([]), .array(of: "s", [])] {
      #expect(throws: BusValueError.self) { try Order(bus: value) }
      #expect(throws: BusValueError.self) { try Payment(bus: value) }
    }
  }

  @Test("a message has exactly the values that are read from it")
  func messages() throws {
    func pass(_ message: inout MessageFields) throws -> [Int] { [try message(1), try message(2)] }
    let values = MessageFields.written { _ = try pass(&$0) }
    #expect(values == [.int64(1), .int64(2)])
    #expect(try MessageFields.read([.int64(7), .int64(8)], pass) == [7, 8])
    for wrong in [[], Array(values.prefix(1)), values + values] {
      #expect(throws: BusValueError.self) { try MessageFields.read(wrong, pass) }
    }
  }
}
