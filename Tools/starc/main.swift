internal import ArchiveIO
internal import Glibc

let outputIsOpen = Signals.reserveStandardDescriptors()
let cancellation = CancellationToken()
Signals.install(cancelling: cancellation)
let output = StandardOutput(isOpen: outputIsOpen, token: cancellation)
let status = Tool(output: output, cancellation: cancellation).run(ProcessArguments.bytes)
exit(status.rawValue)
