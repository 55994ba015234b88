/// The PAM services of login programs, and the module that Whorl adds to them.
enum LoginServices {
  /// The services by which people log in, and sudo, which is reported but not required.
  static let all = [
    "gdm-fingerprint", "gdm-password", "gdm-autologin", "sddm", "sddm-autologin", "lightdm", "lightdm-autologin",
    "greetd", "login", "sudo",
  ]
  /// The services whose sessions open nothing: automatic logins, and sudo, whose user has a session already.
  static let withoutSession: Set<String> = ["gdm-autologin", "sddm-autologin", "lightdm-autologin", "sudo"]

  /// The lock screens that run as their user; a machine may have none. Plasma 6 asks for fingers in a stack of their own.
  static let screens = [plasmaFinger, "kde", "swaylock", "gtklock", "i3lock", "hyprlock"]
  static let plasmaFinger = "kde-fingerprint"

  /// The services that are for fingers alone: another one asks for the password at the same time.
  static let fingersAlone: Set<String> = ["gdm-fingerprint", plasmaFinger]

  /// The name of Whorl's PAM module.
  static let module = "pam_whorl.so"
}
