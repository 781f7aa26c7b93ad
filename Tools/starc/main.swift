internal import CommandLineTool
internal import Glibc

exit(Tool(.starc).run(ProcessArguments.bytes).rawValue)
