import Processes

/// What every command is given for the programs that it executes.
typealias Hardening = Processes.Hardening
