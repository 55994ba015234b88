import Foundation

/// Certificates of invented people and authorities, made with the `openssl` command, and a private key.
enum CertificateSamples {
  /// C=DE, O="Example  Trust", CN=Example CA as PrintableString: self-signed, RSA of 2048 bits.
  static let authority = read(
    """
    MIIDODCCAiCgAwIBAgIUCPa7rOw5ZK3B+thB+P7PuZOTmA0wDQYJKoZIhvcNAQELBQAwOzELMAkGA1UEBhMCREUxFzAVBgNVBAoT
    DkV4YW1wbGUgIFRydXN0MRMwEQYDVQQDEwpFeGFtcGxlIENBMCAXDTI2MTEyMjAxMTk1NloYDzIxMjYxMDI5MDExOTU2WjA7MQsw
    CQYDVQQGEwJERTEXMBUGA1UEChMORXhhbXBsZSAgVHJ1c3QxEzARBgNVBAMTCkV4YW1wbGUgQ0EwggEiMA0GCSqGSIb3DQEBAQUA
    A4IBDwAwggEKAoIBAQDQsKuKpMvrHZtvHMelOZjK4Mb8uv/xHgt6bP4Rxfmj0zE42EqT+DozLy4PTbY5zb+fQ+HeOX6idyV2f9Us
    JP2rOBbWZovro47R6EoOm/SpNpDs9oo9vGpzwtQkp0VPbBCo55//e6BmcPKJeuh1HYn76dJudf5TlDGUnO0aYtuu4YmF5g99FQCb
    GZVrlc3KG7cu6zEsrtMmZXH6rZjHMwLU5WPRt/wZpZB7cDgiyEynmuPBaxNK0Z+N6Dtj/duGLhfW57l5GURJubREpmNE3mln/sbU
    yw2cIkRDIZOL3fc0nClORKSI224HF6le9p3g2iBUzweQEbE7zwVvyxXdCCyDAgMBAAGjMjAwMA8GA1UdEwEB/wQFMAMBAf8wHQYD
    VR0OBBYEFBF2L9kezpzUNIYtcPzew3jmpkl6MA0GCSqGSIb3DQEBCwUAA4IBAQBBwdKbvKqceS7vwwnH2t1kdxYOFfnSKhn+0rU7
    oxuQGin6YtG7u40rGNbmBVRMlsRok8YhCWirEmSVUxdHmtY/vaRr3nwM7T20I87/qBDRp4HtwNgwjHb/YlAG0ARxTtwmcjryU5MV
    aGZbI4sgfF8RFT5OdH7zZUs4lGP1hjvGS6wIqs+Tgk4n3Ra6gX4wxebsudPOKRqaOwsXhdL0cX62nYOFBG5OXpwZ6pnUEXCpeaoc
    1zJs7KhMgZBke1uvkCA+c8TVHSZqYmjlsrbbhd896EW0q9LE1NUgl/FVTCALV2ELFIfsFFyWVRMidO48peTEou1Sj7yODjyeOuKA
    +9uD
    """)

  /// Alice Liddell, research at Example Ltd, P-256, signed by the authority; serial number 00f1e2d3. Its alternative
  /// names are alice@example.org and alice.example.org; its subject has alice@old.example.org.
  static let alice = read(
    """
    MIIC1zCCAb+gAwIBAgIEAPHi0zANBgkqhkiG9w0BAQsFADA7MQswCQYDVQQGEwJERTEXMBUGA1UEChMORXhhbXBsZSAgVHJ1c3Qx
    EzARBgNVBAMTCkV4YW1wbGUgQ0EwIBcNMjYxMTIyMDExOTU3WhgPMjEyNjEwMjkwMTE5NTdaMHQxCzAJBgNVBAYTAkRFMRQwEgYD
    VQQKDAtFeGFtcGxlIEx0ZDERMA8GA1UECwwIUmVzZWFyY2gxFjAUBgNVBAMMDUFsaWNlIExpZGRlbGwxJDAiBgkqhkiG9w0BCQEW
    FWFsaWNlQG9sZC5leGFtcGxlLm9yZzBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABM9oKrRwPR0MzPKTsPb3tfT9z7QH8g6RkYvH
    p07Zb+oCSHco7K4Q+/BapMezH5Ep4Ga/S2w4pYltXD4UvrBF2eCjczBxMB0GA1UdDgQWBBQEoysPmizlmqfjl/sq4WSUjs6DVjAv
    BgNVHREEKDAmgRFhbGljZUBleGFtcGxlLm9yZ4IRYWxpY2UuZXhhbXBsZS5vcmcwHwYDVR0jBBgwFoAUEXYv2R7OnNQ0hi1w/N7D
    eOamSXowDQYJKoZIhvcNAQELBQADggEBAAfdZrPk+9iE5KImmUoXTOxoBAFGDw3kRQeh/ZxzJkbaJHSbOOYzuIil160P+GhUyYBa
    W1R+u9sPdcq3UBjVRXAxNw44WFC9jX79oxpFCWjgfR9Uq+UqJT/O5SkKA7sqy7Zh8R8wbH1YMzmR6s7lmkTVslvpxN2jFkCVME0l
    86c2O0QnVURimxJX9CWqrHEU7ODTh+EglitVi1Iy+WZZgqtlDCkP6LCk/bqVAs6i2oTKPhrRov61cvSjE2pd/XeKTKorVZdYvvYa
    J2e1SnJHsbEDl38mtVOo8ISe3Tzj/yQG7+T5Rn66uXkvyvknzieotEf3HzREJ8xluj5Lm6TAlLw=
    """)

  /// Another certificate for the same subject and key, with serial number 2.
  static let aliceRenewed = read(
    """
    MIIC1DCCAbygAwIBAgIBAjANBgkqhkiG9w0BAQsFADA7MQswCQYDVQQGEwJERTEXMBUGA1UEChMORXhhbXBsZSAgVHJ1c3QxEzAR
    BgNVBAMTCkV4YW1wbGUgQ0EwIBcNMjYxMTIyMDExOTU3WhgPMjEyNjEwMjkwMTE5NTdaMHQxCzAJBgNVBAYTAkRFMRQwEgYDVQQK
    DAtFeGFtcGxlIEx0ZDERMA8GA1UECwwIUmVzZWFyY2gxFjAUBgNVBAMMDUFsaWNlIExpZGRlbGwxJDAiBgkqhkiG9w0BCQEWFWFs
    aWNlQG9sZC5leGFtcGxlLm9yZzBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABM9oKrRwPR0MzPKTsPb3tfT9z7QH8g6RkYvHp07Z
    b+oCSHco7K4Q+/BapMezH5Ep4Ga/S2w4pYltXD4UvrBF2eCjczBxMB0GA1UdDgQWBBQEoysPmizlmqfjl/sq4WSUjs6DVjAvBgNV
    HREEKDAmgRFhbGljZUBleGFtcGxlLm9yZ4IRYWxpY2UuZXhhbXBsZS5vcmcwHwYDVR0jBBgwFoAUEXYv2R7OnNQ0hi1w/N7DeOam
    SXowDQYJKoZIhvcNAQELBQADggEBABqC14fq+t/VEqHtDzqT9IcmWNruNdC3aYvhxJwwVS6Ic/VNFkj4wRVPgOrbHQewI5g9G+oD
    iJmKdwkpr4ko8/6MHh//hO3/CNMuCRyQtKtwscqUSZFLVfbdaU6vvuIri9s76HsoKH9Oo9UQBWgr3UI4MmcWLgfNEkddAigF6FAh
    j7x7tMUdxb9hSdqCeumFo6LOqJb92fpYhg9zm5OP+457NfNT2MqJ1JeYnjRpBD9cy1oxxX/vDzJBRKqDTJ73rwU5gXr4HL9EFDb1
    IbmusssunovYdb9Oq6nnnJNw7htN7nD0qZ1hzirhUCg9mF7WGdkx1zaWwjphviACFCxnVHI=
    """)

  /// Alice's private key: 04 ‖ X ‖ Y ‖ K.
  static let aliceKey = read(
    """
    BM9oKrRwPR0MzPKTsPb3tfT9z7QH8g6RkYvHp07Zb+oCSHco7K4Q+/BapMezH5Ep4Ga/S2w4pYltXD4UvrBF2eDpzzljKRPbRhnc
    SorfF/je7suCBlLa2hox7AGFkZvF9w==
    """)

  private static func read(_ base64: String) -> Data {
    Data(base64Encoded: base64, options: .ignoreUnknownCharacters) ?? Data()
  }
}
