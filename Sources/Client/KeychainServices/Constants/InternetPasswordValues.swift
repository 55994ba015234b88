public import Foundation

// The values of `kSecAttrProtocol` and `kSecAttrAuthenticationType`.
// `nonisolated(unsafe)`: an NSString made from a literal never changes.

// Protocols

/// `ftp `: FTP.
public nonisolated(unsafe) let kSecAttrProtocolFTP: CFString = "ftp "
/// `ftpa`: FTP, a client-side account.
public nonisolated(unsafe) let kSecAttrProtocolFTPAccount: CFString = "ftpa"
/// `http`: HTTP.
public nonisolated(unsafe) let kSecAttrProtocolHTTP: CFString = "http"
/// `irc `: IRC.
public nonisolated(unsafe) let kSecAttrProtocolIRC: CFString = "irc "
/// `nntp`: NNTP.
public nonisolated(unsafe) let kSecAttrProtocolNNTP: CFString = "nntp"
/// `pop3`: POP3.
public nonisolated(unsafe) let kSecAttrProtocolPOP3: CFString = "pop3"
/// `smtp`: SMTP.
public nonisolated(unsafe) let kSecAttrProtocolSMTP: CFString = "smtp"
/// `sox `: SOCKS.
public nonisolated(unsafe) let kSecAttrProtocolSOCKS: CFString = "sox "
/// `imap`: IMAP.
public nonisolated(unsafe) let kSecAttrProtocolIMAP: CFString = "imap"
/// `ldap`: LDAP.
public nonisolated(unsafe) let kSecAttrProtocolLDAP: CFString = "ldap"
/// `atlk`: AFP over AppleTalk.
public nonisolated(unsafe) let kSecAttrProtocolAppleTalk: CFString = "atlk"
/// `afp `: AFP over TCP.
public nonisolated(unsafe) let kSecAttrProtocolAFP: CFString = "afp "
/// `teln`: Telnet.
public nonisolated(unsafe) let kSecAttrProtocolTelnet: CFString = "teln"
/// `ssh `: SSH.
public nonisolated(unsafe) let kSecAttrProtocolSSH: CFString = "ssh "
/// `ftps`: FTP over TLS.
public nonisolated(unsafe) let kSecAttrProtocolFTPS: CFString = "ftps"
/// `htps`: HTTP over TLS.
public nonisolated(unsafe) let kSecAttrProtocolHTTPS: CFString = "htps"
/// `htpx`: an HTTP proxy.
public nonisolated(unsafe) let kSecAttrProtocolHTTPProxy: CFString = "htpx"
/// `htsx`: an HTTPS proxy.
public nonisolated(unsafe) let kSecAttrProtocolHTTPSProxy: CFString = "htsx"
/// `ftpx`: an FTP proxy.
public nonisolated(unsafe) let kSecAttrProtocolFTPProxy: CFString = "ftpx"
/// `smb `: SMB.
public nonisolated(unsafe) let kSecAttrProtocolSMB: CFString = "smb "
/// `rtsp`: RTSP.
public nonisolated(unsafe) let kSecAttrProtocolRTSP: CFString = "rtsp"
/// `rtsx`: an RTSP proxy.
public nonisolated(unsafe) let kSecAttrProtocolRTSPProxy: CFString = "rtsx"
/// `daap`: DAAP.
public nonisolated(unsafe) let kSecAttrProtocolDAAP: CFString = "daap"
/// `eppc`: remote Apple events.
public nonisolated(unsafe) let kSecAttrProtocolEPPC: CFString = "eppc"
/// `ipp `: IPP.
public nonisolated(unsafe) let kSecAttrProtocolIPP: CFString = "ipp "
/// `ntps`: NNTP over TLS.
public nonisolated(unsafe) let kSecAttrProtocolNNTPS: CFString = "ntps"
/// `ldps`: LDAP over TLS.
public nonisolated(unsafe) let kSecAttrProtocolLDAPS: CFString = "ldps"
/// `tels`: Telnet over TLS.
public nonisolated(unsafe) let kSecAttrProtocolTelnetS: CFString = "tels"
/// `imps`: IMAP over TLS.
public nonisolated(unsafe) let kSecAttrProtocolIMAPS: CFString = "imps"
/// `ircs`: IRC over TLS.
public nonisolated(unsafe) let kSecAttrProtocolIRCS: CFString = "ircs"
/// `pops`: POP3 over TLS.
public nonisolated(unsafe) let kSecAttrProtocolPOP3S: CFString = "pops"

// Authentication types

/// `ntlm`: NTLM.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeNTLM: CFString = "ntlm"
/// `msna`: the default of MSN (Microsoft Network).
public nonisolated(unsafe) let kSecAttrAuthenticationTypeMSN: CFString = "msna"
/// `dpaa`: distributed password authentication.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeDPA: CFString = "dpaa"
/// `rpaa`: remote password authentication.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeRPA: CFString = "rpaa"
/// `http`: HTTP Basic.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPBasic: CFString = "http"
/// `httd`: HTTP Digest.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTTPDigest: CFString = "httd"
/// `form`: an HTML form.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeHTMLForm: CFString = "form"
/// `dflt`: the default.
public nonisolated(unsafe) let kSecAttrAuthenticationTypeDefault: CFString = "dflt"
