import AsyncHTTPClient
import Crypto
import Foundation
import KeychainServices
import LocalAuthentication
import NIOSSL
import X509

// A certificate of swift-certificates, as the other packages and Whorl read it.
let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
let name = try DistinguishedName { CommonName("other packages") }
let certificate = try Certificate(
  version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey, notValidBefore: Date(),
  notValidAfter: Date() + 3_600, issuer: name, subject: name, signatureAlgorithm: .ecdsaWithSHA256,
  extensions: try Certificate.Extensions { Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil)) },
  issuerPrivateKey: key)
let pem = try certificate.serializeAsPEM()
let ofTLS = try NIOSSLCertificate(bytes: pem.derBytes, format: .der)
guard let ofWhorl = SecCertificateCreateWithData(nil, Data(pem.derBytes) as CFData) else {
  fatalError("Whorl does not read the certificate")
}
guard SecCertificateCopySubjectSummary(ofWhorl) as String? == "other packages" else {
  fatalError("Whorl reads another name")
}
guard try ofTLS.toDERBytes() == [UInt8](SecCertificateCopyData(ofWhorl) as Data) else {
  fatalError("Whorl and NIOSSL have other bytes")
}

var tls = TLSConfiguration.makeClientConfiguration()
tls.trustRoots = .certificates([ofTLS])
let client = HTTPClient(configuration: .init(tlsConfiguration: tls))
try await client.shutdown()

// The call needs neither store nor reader. Its result does not matter.
var reason: NSError?
_ = LAContext().canEvaluatePolicy(.deviceOwnerAuthentication, error: &reason)

#if canImport(Security)
  fatalError("a module of Apple's name is in the build")
#else
  print("other packages: built and run beside Whorl")
#endif
