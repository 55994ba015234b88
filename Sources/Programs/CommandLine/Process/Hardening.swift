import Processes

/// The restrictions that a command undoes for programs that it executes.
typealias Hardening = Processes.Hardening
