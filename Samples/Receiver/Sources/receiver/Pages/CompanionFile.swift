import Foundation
import SystemPackage

/// Finds files that belong to this program.
enum CompanionFile {
    /// The bytes of verify.html, the page that verifies bundles in a browser; nil if this machine does not have it.
    static let verifyPage = find("verify.html", inClone: "Samples/verify.html").flatMap {
        FileManager.default.contents(atPath: $0.string).map { Array($0) }
    }

    /// The program that decodes pictures; nil if it is neither beside this program nor in a clone.
    static var decoder: FilePath? { find("capbundle-decode", inClone: ".build/release/capbundle-decode") }

    /// Searches the folder of this program, and then the folders above it, one of which may be a clone of the repository.
    private static func find(_ name: String, inClone path: String) -> FilePath? {
        let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let folder = FilePath(program ?? "").removingLastComponent()
        let above = sequence(first: folder) { $0.removingLastComponent() }.prefix(5).dropFirst()
        let places = [folder.appending(name)] + above.map { $0.pushing(FilePath(path)) }
        return places.first { FileManager.default.fileExists(atPath: $0.string) }
    }
}
