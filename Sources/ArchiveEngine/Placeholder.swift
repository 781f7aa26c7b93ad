internal import ArchiveFormat
internal import ArchiveIO
