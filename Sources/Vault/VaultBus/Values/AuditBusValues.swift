internal import SDBus
internal import SecretModel

extension AuditEntry.Request: BusCodable {}
extension AuditEntry.Prompt: BusCodable {}
extension AuditEntry.Outcome: BusCodable {}

extension AuditEntry: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record([
      "number": number.busValue, "time": time.busValue, "program": program?.busValue, "process": process?.busValue,
      "behalf": behalf?.busValue,
      "request": request.busValue, "items": items.busValue, "prompts": prompts.busValue,
      "wrong-passcodes": wrongPasscodes.busValue, "unmatched-touches": unmatchedTouches.busValue,
      "set-changed": isSetChanged.busValue, "outcome": outcome.busValue, "omitted": omitted.busValue,
    ])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init(
      number: try record.take("number"), time: try record.take("time"), program: try record.takeIfPresent("program"),
      process: try record.takeIfPresent("process"), behalf: try record.takeIfPresent("behalf"),
      request: try record.take("request"),
      items: try record.take("items"), prompts: try record.take("prompts"),
      wrongPasscodes: try record.take("wrong-passcodes"), unmatchedTouches: try record.take("unmatched-touches"),
      isSetChanged: try record.take("set-changed"), outcome: try record.take("outcome"),
      omitted: try record.take("omitted"))
  }
}

extension AuditSearch: BusCodable {
  static var busSignature: String { "a{sv}" }

  var busValue: BusValue {
    .record([
      "after": after.busValue, "since": since.busValue, "requests": requests.busValue, "last": last.busValue,
    ])
  }

  init(bus value: BusValue) throws(VaultError) {
    var record = try BusRecord(value, of: Self.self)
    self.init()
    after = try record.take("after")
    since = try record.take("since")
    requests = try record.take("requests")
    last = try record.take("last")
    try record.end()
    guard (0...Self.limit).contains(last) else {
      throw .invalidRequest("an answer has at most \(Self.limit) entries of the log")
    }
  }
}
