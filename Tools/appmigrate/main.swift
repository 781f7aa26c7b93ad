internal import CommandLineTool
internal import Foundation

exit(Tool(.appmigrate).run(ProcessArguments.bytes).rawValue)
