import ArgumentParser
import CaptureBundle

struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Receive captures until SIGTERM or SIGINT.",
        discussion: """
            Prints the URL and the address of the operator's list on standard output, and log lines on standard \
            error. Uploads that have begun are finished after the signal. The captures are in the queue FOLDER/queue. \
            At the first start, it sends them to the folder FOLDER/kept. To send them elsewhere: capqueue dest add \
            NAME … --queue FOLDER/queue

            example: receiver serve captures --port 8080
            """)

    @OptionGroup var store: StoreOptions

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 for any free port.")
    var port = 8080

    @Option(
        help: """
            The URL under which others reach this receiver; the default is the URL that is printed. It is needed with \
            --host 0.0.0.0.
            """)
    var publicURL: String?

    @Option(help: "The number of bodies that are received at the same time.")
    var capturesAtOnce = 16

    @Option(
        name: .customLong("operator-port"),
        help: """
            The port of the operator's list, on the loopback interface only; the default is the port after --port, and any \
            free port if --port is 0.
            """)
    var givenOperatorPort: Int?

    var operatorPort: Int { givenOperatorPort ?? (port == 0 || port == 65535 ? 0 : port + 1) }

    @Option(help: "The maximum number of samples on a side of a depth map, at most 16384.")
    var depthSide = 4096

    @Flag(
        help: """
            Show and hand out everything to anyone. By default, only the operator gets positions and what devices marked as \
            withholdable.
            """)
    var showPlace = false

    @Option(
        help: """
            A shell command that asks a time stamping authority: it gets an RFC 3161 query on standard input, and writes \
            the answer to standard output. Each capture gets a time stamp after it was kept.
            """)
    var tsaCommand: String?

    @Option(
        help: "A PEM file with the certificates of time stamping authorities to trust, also those of older time stamps."
    )
    var tsaCA: String?

    func validate() throws {
        if tsaCommand != nil && tsaCA == nil {
            throw ValidationError("--tsa-command needs --tsa-ca FILE, the certificates with which answers are checked")
        }
        let numbers = [
            ("port", port, 0...65535), ("operator-port", operatorPort, 0...65535),
            ("captures-at-once", capturesAtOnce, 1...1000), ("depth-side", depthSide, 1...BundleLimits.depthSide),
        ]
        for (name, value, range) in numbers where !range.contains(value) {
            throw ValidationError("--\(name) is \(value), expected \(range.lowerBound) to \(range.upperBound)")
        }
        // Whatever has only zeros is the address 0.0.0.0 or ::.
        if publicURL == nil, host.utf8.allSatisfy({ "0.:".utf8.contains($0) }) {
            throw ValidationError(
                "--host \(host) means all addresses of this machine; name the one that others use, such as "
                    + "--public-url http://192.168.1.5:\(port)")
        }
        if let publicURL, !(publicURL.hasPrefix("https://") || publicURL.hasPrefix("http://")) {
            throw ValidationError("--public-url is \(publicURL), expected https://… or http://…")
        }
    }

    func run() async throws {
        try await Serving(folder: store.place, devices: store.devices(create: true), settings: self).run()
    }
}
