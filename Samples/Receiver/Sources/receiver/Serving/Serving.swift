import CaptureQueue
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import ServiceLifecycle
import SystemPackage
import UnixSignals

/// A receiver that runs: the server, the queue, and the work on the queue.
struct Serving {
    let folder: ReceiverFolder
    let devices: Devices
    let settings: ReceiverSettings

    /// The number of connections. More clients wait until another one leaves. A connection takes up to 60 kB of memory,
    /// also for some seconds after its client left.
    private static let connections = 1200

    /// Serves until SIGTERM or SIGINT. Uploads that have begun are finished if they take at most a minute.
    func run() async throws {
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        var logger = Logger(label: "receiver")
        logger.logLevel = .notice
        let files = OpenFiles.raiseLimit()
        try folder.make()
        let lock = try folder.lock()
        defer { try? lock.close() }
        try folder.emptyBodies()
        let queue = try openQueue(logger)
        let index = try CaptureIndex(folder.index, logger)
        try IndexRepair(
            queue: queue, index: index, devices: devices,
            bundles: StoredBundles(queue: queue, scratch: folder.bodies), logger: logger
        ).run()
        let threads = BlockingThreads(count: settings.capturesAtOnce + 8)
        let captures = Captures(queue, index, threads)
        let publicURL = PublicURL(settings.publicURL)

        let shelf = CaptureShelf(
            captures: captures, queue: queue, devices: devices, scratch: folder.bodies, publicURL: publicURL,
            logger: logger)
        let pages = Pages(shelf, readers: threads)
        let lines = StartLines()

        let router = try router(captures, queue, index, threads, publicURL, logger)
        pages.addRoutes(to: router, seesAll: settings.showsPlace)
        let application = application(
            router, settings.host, settings.port, connections: min(Self.connections, files / 2), logger: logger
        ) { url in
            publicURL.listens(url)
            lines.say(url, at: 0)
        }
        let operatorApplication = try operatorApplication(pages, lines, logger)
        let work = QueueWork(queue.folder, logger)
        work.start()
        var configuration = ServiceGroupConfiguration(
            services: [application, operatorApplication], gracefulShutdownSignals: [.sigterm, .sigint],
            logger: logger)
        // A slow client must not keep the receiver from ending before systemd kills it after 90 seconds.
        configuration.maximumGracefulShutdownDuration = .seconds(60)
        let services = ServiceGroup(configuration: configuration)
        let result = await Result { try await services.run() }
        work.stop()
        await threads.stop()
        await pages.stop()
        try index.close()
        queue.close()
        do { try result.get() } catch let error as IOError { throw CannotListen(settings, error) }
    }

    /// Opens the queue. At the first start it gets a folder as its destination.
    private func openQueue(_ logger: Logger) throws -> UploadQueue {
        let queue = try UploadQueue(at: QueueFolder(path: folder.queue), createIfMissing: true)
        if try queue.destinations.list().isEmpty {
            try folder.makeKept()
            try queue.destinations.addFolder("kept", path: folder.kept.string)
        }
        if try queue.namesOfDestinations().isEmpty {
            let command = "capqueue dest add NAME --kind KIND … --queue \(folder.queue)"
            logger.warning("captures stay here, because all destinations are retired; add one with: \(command)")
        }
        return queue
    }

    private func router(
        _ captures: Captures, _ queue: UploadQueue, _ index: CaptureIndex, _ threads: BlockingThreads,
        _ publicURL: PublicURL, _ logger: Logger
    ) throws -> Router<ReceiverContext> {
        let sharedPhotos = try SharedPhotos(of: folder)
        let slots = Slots(settings.capturesAtOnce)
        let metrics = Metrics()
        let router = Router(context: ReceiverContext.self, options: .autoGenerateHeadEndpoints)
        router.addMiddleware {
            CountRequests(metrics: metrics)
            AnswerErrors()
        }
        let intake = CaptureIntake(
            folder: folder, captures: captures, devices: devices, slots: slots, threads: threads,
            publicURL: publicURL, sharedPhotos: sharedPhotos, depthSide: settings.depthSide)
        let told = CaptureRoutes(captures: captures, devices: devices, threads: threads, publicURL: publicURL)
        router.post("/api/v1/captures") { try await intake.post($0, $1) }
        router.get("/api/v1/captures/{id}") { try await told.get($0, $1) }
        let registration = RegistrationRoute(devices: devices, threads: threads)
        router.post("/api/v1/devices/register") { try await registration.post($0, $1) }
        let lookup = VerifyFileRoute(
            folder: folder, captures: captures, devices: devices, slots: slots, threads: threads,
            publicURL: publicURL, sharedPhotos: sharedPhotos)
        router.post("/api/v1/verify-file") { try await lookup.post($0, $1) }
        let health = Health(folder, queue, index, devices, threads, logger)
        HealthRoutes(queue: queue, index: index, slots: slots, metrics: metrics, threads: threads, health: health)
            .addRoutes(to: router)
        return router
    }

    /// The server of the operator's list. It listens on the loopback interface only.
    private func operatorApplication(
        _ pages: Pages, _ lines: StartLines, _ logger: Logger
    ) throws -> some ApplicationProtocol {
        let token = try OperatorToken(file: folder.operatorToken)
        let router = Router(context: ReceiverContext.self)
        router.addMiddleware { AnswerErrors() }
        OperatorPages(pages: pages, token: token).addRoutes(to: router)
        return application(router, "127.0.0.1", settings.operatorPort, connections: 64, logger: logger) { url in
            lines.say("operator \(url)/?token=\(token.text)", at: 1)
        }
    }

    /// An HTTP server.
    ///
    /// - Parameter onListening: Gets the URL of the server once it listens.
    private func application(
        _ router: Router<ReceiverContext>, _ host: String, _ port: Int, connections: Int, logger: Logger,
        onListening: @escaping @Sendable (String) -> Void
    ) -> some ApplicationProtocol {
        Application(
            router: router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [RequestPacing(PacingLimits())],
                    httpDecoderConfiguration: .init(
                        maxHeaderFieldSize: 8192, maxHeaderListSize: 32768, maxHeaderFieldCount: 100))),
            configuration: .init(
                address: .hostname(host, port: port), backlog: 1024,
                availableConnectionsDelegate: .maximum(connections, logger: logger)),
            onServerRunning: { channel in
                let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
                onListening("http://\(name):\(channel.localAddress?.port ?? port)")
            },
            logger: logger)
    }
}

/// A port cannot be used.
private struct CannotListen: Error, CustomStringConvertible {
    let description: String

    init(_ settings: ReceiverSettings, _ error: IOError) {
        let reason = Errno(rawValue: error.errnoCode)
        description =
            "cannot listen on \(settings.host) port \(settings.port), or on 127.0.0.1 port "
            + "\(settings.operatorPort): \(reason); choose others with --port and --operator-port"
    }
}

extension Result where Failure == any Error {
    /// The result of an asynchronous call.
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
