internal import CommandLineTool
internal import Glibc

exit(Tool(.archiveBenchmark).run(BenchmarkArguments.withVerb(ProcessArguments.bytes)).rawValue)
