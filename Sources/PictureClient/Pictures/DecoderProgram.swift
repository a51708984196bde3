import CaptureBundle
import CaptureNative
import SystemPackage

/// Finds `capbundle-decode`.
enum DecoderProgram {
    static let name = "capbundle-decode"
    static let variable = "CAPBUNDLE_DECODE"

    static func find(_ given: FilePath?) throws(PictureFailure) -> FilePath {
        if let path = ProcessEnvironment.path(variable) ?? given { return path }
        // /proc/self/exe is the running program, also if it was started through a link.
        let folder = FilePath("/proc/self/exe").linkTarget?.folder
        let places =
            folder.map { [$0.appending(name), $0.folder.appending("libexec/capbundle").appending(name)] } ?? []
        for place in places where (try? FileStatus.of(place))?.kind == .file { return place }
        let names = places.map(\.string).joined(separator: " or ")
        throw PictureFailure(.noDecoder, "cannot be decoded: \(name) was not found (expected \(names))")
    }
}
