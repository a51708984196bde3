import CaptureBundle
import CaptureQueue
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import QueueModel
import ServiceLifecycle
import SystemPackage
import UnixSignals

/// A receiver that runs: the server, the queue, and the work on the queue.
struct Serving {
    let folder: ReceiverFolder
    let devices: Devices
    let settings: ServeCommand

    /// The number of connections. More clients wait until another one leaves. A connection takes up to 60 kB of memory,
    /// also for some seconds after its client left.
    private static let connections = 1200

    /// Serves until SIGTERM or SIGINT. Uploads that have begun are finished if they take at most a minute.
    func run() async throws {
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        var logger = Logger(label: "receiver")
        logger.logLevel = .notice
        let files = OpenFiles.raiseLimit()
        var authorities = TrustFile()
        if let path = settings.authorities { try authorities.append(certificates: FilePath(path)) }
        try folder.make()
        let lock = try folder.lock()
        defer { try? lock.close() }
        try folder.emptyScratch()
        let queue = try openQueue(logger)
        let index = try CaptureIndex(folder.index, logger)
        try IndexRepair(
            queue: queue, index: index, devices: devices,
            bundles: StoredBundles(queue: queue, scratch: folder.scratch), logger: logger
        ).run()
        let stamper = try settings.stampingCommand.map {
            Stamper(authority: try StampingAuthority(command: $0, trust: authorities), index: index, logger: logger)
        }
        let threads = BlockingThreads(count: settings.capturesAtOnce + 8)
        let publicURL = PublicURL(settings.publicURL)
        let shelf = CaptureShelf(
            index: index, queue: queue, devices: devices, authorities: authorities, scratch: folder.scratch,
            publicURL: publicURL, logger: logger)
        let pages = Pages(shelf, readers: threads)
        let lines = StartLines()

        let router = try router(queue, index, stamper, threads, publicURL, logger)
        pages.addRoutes(to: router, seesAll: settings.showsPlace)
        let application = application(
            router, settings.host, settings.port, connections: min(Self.connections, files / 2), logger: logger
        ) { url in
            publicURL.listens(url)
            lines.say(url, at: 0)
        }
        // They end in the reverse order: what the last uploads bring is still sent.
        let services: [(any Service)?] = [
            QueueWork(folder: queue.folder, logger: logger), stamper, application,
            try operatorApplication(pages, lines, logger),
        ]
        var configuration = ServiceGroupConfiguration(
            services: services.compactMap(\.self), gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        // A slow client must not keep the receiver from ending before systemd kills it after 90 seconds.
        configuration.maximumGracefulShutdownDuration = .seconds(60)
        var failure: (any Error)?
        do { try await ServiceGroup(configuration: configuration).run() } catch { failure = error }
        await threads.stop()
        await pages.stop()
        try index.close()
        queue.close()
        if let error = failure as? IOError {
            throw Unusable(
                "cannot listen on \(settings.host) port \(settings.port), or on 127.0.0.1 port "
                    + "\(settings.operatorPort): \(Errno(rawValue: error.errnoCode)); choose others with --port and "
                    + "--operator-port")
        }
        if let failure { throw failure }
    }

    /// Opens the queue. At the first start it gets a folder as its destination.
    private func openQueue(_ logger: Logger) throws -> UploadQueue {
        let queue = try UploadQueue(at: QueueFolder(path: folder.queue), createIfMissing: true)
        if try queue.destinations.list().isEmpty {
            try folder.makeKept()
            try queue.destinations.add("kept", .folder(FolderSettings(path: folder.kept)))
        }
        if try queue.namesOfDestinations().isEmpty {
            let command = "capqueue dest add NAME --kind KIND … --queue \(folder.queue)"
            logger.warning("captures stay here, because all destinations are retired; add one with: \(command)")
        }
        return queue
    }

    private func router(
        _ queue: UploadQueue, _ index: CaptureIndex, _ stamper: Stamper?, _ threads: BlockingThreads,
        _ publicURL: PublicURL, _ logger: Logger
    ) throws -> Router<ReceiverContext> {
        let sharedPhotos = try SharedPhotos(of: folder)
        let slots = Slots(settings.capturesAtOnce)
        let metrics = Metrics()
        let router = Router(context: ReceiverContext.self, options: .autoGenerateHeadEndpoints)
        router.addMiddleware { AnswerErrors(metrics: metrics) }
        let captures = CaptureRoutes(
            index: index, keeper: Keeper(queue, index, threads), devices: devices, slots: slots, threads: threads,
            publicURL: publicURL, sharedPhotos: sharedPhotos, depthSide: settings.depthSide)
        router.post("/api/v1/captures") { try await captures.post($0, $1) }
        router.get("/api/v1/captures/{id}") { try await captures.get($0, $1) }
        let registration = RegistrationRoute(devices: devices, threads: threads)
        router.post("/api/v1/devices/register") { try await registration.post($0, $1) }
        let lookup = VerifyFileRoute(
            index: index, devices: devices, slots: slots, threads: threads, publicURL: publicURL,
            sharedPhotos: sharedPhotos)
        router.post("/api/v1/verify-file") { try await lookup.post($0, $1) }
        let health = Health(queue, index, devices, stamper, threads, logger)
        router.get("/healthz") { _, _ in await health.get() }
        router.get("/metrics") { _, _ in try await metrics.get(slots, queue, index, stamper, threads) }
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

    private func application(
        _ router: Router<ReceiverContext>, _ host: String, _ port: Int, connections: Int, logger: Logger,
        onListening: @escaping @Sendable (String) -> Void
    ) -> some ApplicationProtocol {
        Application(
            router: router,
            server: .http1(
                configuration: .init(
                    additionalChannelHandlers: [RequestPacing()],
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
