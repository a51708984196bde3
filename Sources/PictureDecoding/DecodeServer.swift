import Glibc
import PictureMessages

/// Runs `capbundle-decode`: it answers the requests on standard input until the input ends.
package enum DecodeServer {
    private static let usage = """
        capbundle-decode decodes pictures for capbundle, in a sandbox. Only capbundle starts it.
        usage: capbundle-decode [tiff] [heif] [archive] [--attempt open|connect|exec|fork|write-file|executable-memory]
        tiff and heif load the library for this format. archive unpacks the archive on standard input.
        --attempt tries a forbidden system call in the sandbox.

        """

    /// - Parameter arguments: The command line without the name of the program.
    /// - Returns: The exit code: 0 when the input ended, 64 for a wrong command line, 70 if the sandbox or a library
    ///   is missing (the answer says which), 74 for input that is not a request. `Channel.send` ends with 74, too.
    package static func run(_ arguments: [String]) -> Int32 {
        guard let options = Options(arguments) else {
            _ = Channel.write(Array(usage.utf8), to: STDERR_FILENO)
            return 64
        }
        guard let decoders = Decoders(options.libraries) else { return stop(.missing, "memory") }
        if let missing = decoders.missing {
            return stop(.missing, "\(missing.fileName) \(missing.debianPackage)")
        }
        if let text = Sandbox.close(forLibraries: options.libraries) { return stop(.noSandbox, text) }
        if let attempt = options.attempt {
            attempt.run()
            return 0
        }
        Channel.send(AnswerPart(.ready, detail: PicturePart.version))
        return decoders.archive.map(unpack) ?? serve(decoders)
    }

    private static func unpack(_ archive: ArchiveUnpacker) -> Int32 {
        do throws(DecodingRefusal) {
            try archive.unpack()
            Channel.send(AnswerPart(.end))
        } catch {
            Channel.send(AnswerPart(error))
        }
        return 0
    }

    private static func serve(_ decoders: Decoders) -> Int32 {
        while let head = Channel.read(PictureRequest.headCount) {
            guard let request = PictureRequest(head: head) else { return 74 }
            guard let bytes = Channel.read(request.byteCount) else { return 74 }
            do throws(DecodingRefusal) {
                for part in try decoders.answer(request, bytes) + [AnswerPart(.end)] { Channel.send(part) }
            } catch {
                Channel.send(AnswerPart(error))
            }
        }
        return 0
    }

    private static func stop(_ kind: PicturePart.Refusal, _ text: String) -> Int32 {
        Channel.send(AnswerPart(DecodingRefusal(kind, text)))
        return 70
    }

    private struct Options {
        var libraries: Set<PictureLibrary> = []
        var attempt: Sandbox.Attempt?

        init?(_ arguments: [String]) {
            var rest = arguments[...]
            while let word = rest.popFirst() {
                if word == "--attempt" {
                    guard let name = rest.popFirst(), let attempt = Sandbox.Attempt(rawValue: name) else { return nil }
                    self.attempt = attempt
                } else {
                    guard let library = PictureLibrary(rawValue: word) else { return nil }
                    libraries.update(with: library)
                }
            }
        }
    }
}
