import CaptureBundle
import CaptureNative
import CaptureTestSupport
import Foundation
import PictureClient
import PictureMessages
import SystemPackage
import Testing

/// The processes that decode: their sandbox, their end, and what a user reads if something is missing.
struct DecoderProcessTests {
    let picture = PictureFiles.png(width: 3, height: 2, [0, 1, 255, 256, 65534, 65535])

    /// The kernel ends the process with SIGSYS (31) at each call that the filter does not list.
    @Test(
        arguments: ["open", "connect", "exec", "fork", "write-file", "executable-memory"],
        [[], ["tiff"], ["heif"], ["archive"]])
    func isKilledInTheSandboxAt(_ attempt: String, _ libraries: [String]) throws {
        let folder = try TemporaryFolder()
        let done = try Program.run(
            Places.product("capbundle-decode"), libraries + ["--attempt", attempt], in: folder.url, environment: [:])
        #expect(done.exitCode == 128 + 31 || done.exitCode == 31)
        #expect(done.standardOutput.isEmpty)
        #expect(try folder.url.children.isEmpty)
    }

    @Test func seesNeitherEnvironmentNorOtherDescriptors() throws {
        let decoder = PictureDecoder()
        _ = try decoder.samples(picture, .png)
        let number = try #require(decoder.idleProcesses.first)
        // Root may read these of a process that is not dumpable.
        guard geteuid() == 0 else { return }
        #expect(try FileHandle.reading(FilePath("/proc/\(number)/environ")).readAll(limit: 1 << 16).isEmpty)
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(number)/fd")
        #expect(Set(descriptors) == ["0", "1", "2"])
    }

    @Test func startsAgainAfterItWasKilled() throws {
        let decoder = PictureDecoder()
        _ = try decoder.samples(picture, .png)
        let first = try #require(decoder.idleProcesses.first)
        kill(first, SIGKILL)
        _ = try decoder.samples(picture, .png)
        #expect(decoder.idleProcesses.count == 1 && decoder.idleProcesses.first != first)
    }

    @Test func endsWithItsDecoder() throws {
        let number: Int32
        do {
            let decoder = PictureDecoder()
            _ = try decoder.samples(picture, .png)
            number = try #require(decoder.idleProcesses.first)
        }
        #expect(kill(number, 0) == -1)
    }

    @Test func servesSeveralThreads() async throws {
        let decoder = PictureDecoder()
        let file = picture
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<2 {
                group.addTask {
                    (0..<50).allSatisfy { _ in (try? decoder.samples(file, .png).uint16?.last) == 65535 }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        #expect((1...2).contains(decoder.idleProcesses.count))
    }

    @Test func endsAProcessThatTakesTooLong() throws {
        let folder = try TemporaryFolder()
        try write("#!/bin/sh\necho $$ >\"$0.number\"\nsleep 600\n", to: folder.path("slow"))
        let decoder = PictureDecoder(executable: FilePath(folder.path("slow")), timeLimit: 0.5)
        let failure = try #require(throws: PictureFailure.self) { try decoder.samples(picture, .png) }
        #expect(failure.kind == .late)
        let text = String(decoding: try folder.bytes("slow.number"), as: UTF8.self)
        let number = try #require(Int32(text.trimmingCharacters(in: .newlines)))
        #expect(kill(number, 0) == -1)
        #expect(decoder.idleProcesses.isEmpty)
    }

    @Test func refusesAProgramThatIsNotTheDecoder() throws {
        let decoder = PictureDecoder(executable: "/bin/true")
        let failure = try #require(throws: PictureFailure.self) { try decoder.samples(picture, .png) }
        #expect(failure.kind == .died)
    }

    /// An empty file in the place of a library makes loading it fail as on a machine without it.
    @Test(arguments: [("libtiff.so.6", "libtiff6"), ("libheif.so.1", "libheif1"), ("libarchive.so.13", "libarchive13")])
    func namesThePackageOfALibraryThatIsMissing(_ library: String, _ package: String) throws {
        let folder = try TemporaryFolder()
        try folder.write([], to: library)
        let program = Places.product("capbundle-decode").path()
        let script = "#!/bin/sh\nLD_LIBRARY_PATH='\(folder.path)' exec '\(program)' \"$@\"\n"
        try write(script, to: folder.path("decode"))
        let decoder = PictureDecoder(executable: FilePath(folder.path("decode")))
        let error = try #require(throws: (any Error).self) {
            switch package {
            case "libtiff6": _ = try decoder.samples(PictureFiles.tiff(width: 1, height: 1, [1]), .tiff)
            case "libheif1": _ = try decoder.heif([1], withPhoto: true)
            default: try decoder.unpack(.reading(folder.path("decode")), named: "a.zip") { _ in }
            }
        }
        let shown = (error as? BundleError) ?? (error as? PictureFailure)?.error("a.tif")
        #expect(shown?.code == .decoderMissing)
        #expect(shown?.message == "needs the library \(library), which is not installed")
        #expect(shown?.cause == .missingLibrary && shown?.values == [package])
        // What needs no library still works.
        #expect(try decoder.samples(picture, .png).uint16?.count == 6)
    }

    /// Writes a program with a shell: one that this process has open for writing cannot be started, and a process that
    /// another test starts meanwhile inherits the open file for a moment.
    private func write(_ script: String, to path: String) throws {
        let shell = Process()
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = ["-c", "printf %s \"$1\" > \"$0\" && chmod 700 \"$0\"", path, script]
        try shell.run()
        shell.waitUntilExit()
    }
}
