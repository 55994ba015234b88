import ArgumentParser
import Settings

extension OtherProgram: ExpressibleByArgument {}
