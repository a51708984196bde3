import CaptureBundle
import CaptureQueue
import Hummingbird
import Logging
import NIOCore
import QueueFiles
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
        if let path = settings.tsaCA { try authorities.append(certificates: FilePath(path)) }
        try folder.make()
        let lock = try folder.lock()
        defer { try? lock.close() }
        try folder.requireRoom()
        try folder.emptyScratch()
        let depot = Depot(
            folder: folder, queue: try openQueue(logger), index: try CaptureIndex(folder.index, logger),
            devices: devices, publicURL: PublicURL(settings.publicURL),
            threads: BlockingThreads(count: settings.capturesAtOnce + 9), logger: logger)
        try depot.completeIndex()
        let stamper = try settings.tsaCommand.map {
            Stamper(authority: try StampingAuthority(command: $0, trust: authorities), depot: depot)
        }
        let pages = Pages(CaptureShelf(depot, authorities))
        let token = try OperatorToken(file: folder.operatorToken)
        let (operatorLines, operatorLine) = AsyncStream.makeStream(of: String.self)
        let operatorServer = application(operatorRouter(pages, token), "127.0.0.1", settings.operatorPort, 64, logger) {
            operatorLine.yield("operator \($0)/?token=\(token.text)\n")
        }
        let server = application(
            router(depot, stamper, pages), settings.host, settings.port, min(Self.connections, files / 2), logger
        ) { url in
            depot.publicURL.listens(url)
            for await line in operatorLines {
                // Written at once: a program may wait for the lines.
                _ = try? FileDescriptor.standardOutput.writeAll(Array("\(url)\n\(line)".utf8))
                break
            }
        }
        // They end in the reverse order: what the last uploads bring is still sent.
        let services: [(any Service)?] = [QueueWork(depot: depot), stamper, server, operatorServer]
        var configuration = ServiceGroupConfiguration(
            services: services.compactMap(\.self), gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        // A slow client must not keep the receiver from ending before systemd kills it after 90 seconds.
        configuration.maximumGracefulShutdownDuration = .seconds(60)
        var failure: (any Error)?
        do { try await ServiceGroup(configuration: configuration).run() } catch { failure = error }
        await pages.stop()
        await depot.threads.stop()
        try depot.index.close()
        depot.queue.close()
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
        let queue = try Self.openQueue(folder.queue)
        // It would stay so while the receiver runs, also after there is room again.
        guard !queue.isReadOnly else {
            throw Unusable("\(folder.queue): cannot be written, or its disk is full; make room, and start again")
        }
        if try queue.destinations.list().isEmpty {
            try folder.make(folder.kept)
            try queue.destinations.add("kept", .folder(FolderSettings(path: folder.kept)))
        }
        if try queue.namesOfDestinations().isEmpty {
            let command = "capqueue dest add NAME --kind KIND … --queue \(folder.queue)"
            logger.warning("captures stay here, because all destinations are retired; add one with: \(command)")
        }
        return queue
    }

    private static func openQueue(_ path: FilePath) throws -> UploadQueue {
        do throws(QueueError) { return try UploadQueue(at: QueueFolder(path: path), createIfMissing: true) } catch {
            guard error.isMendedBySalvage else { throw error }
            throw Unusable("\(error); mend it with: capqueue salvage --queue \(path)")
        }
    }

    private func router(_ depot: Depot, _ stamper: Stamper?, _ pages: Pages) -> Router<ReceiverContext> {
        let slots = Slots(settings.capturesAtOnce)
        let metrics = Metrics()
        let router = Router(context: ReceiverContext.self, options: .autoGenerateHeadEndpoints)
        router.addMiddleware { AnswerErrors(metrics: metrics) }
        let captures = CaptureRoutes(
            depot: depot, keeper: Keeper(depot), slots: slots, depthSide: settings.depthSide)
        router.post("/api/v1/captures") { try await captures.post($0, $1) }
        router.get("/api/v1/captures/{id}") { try await captures.get($0, $1) }
        let registration = RegistrationRoute(depot: depot)
        router.post("/api/v1/devices/register") { try await registration.post($0, $1) }
        let lookup = VerifyFileRoute(depot: depot, slots: slots)
        router.post("/api/v1/verify-file") { try await lookup.post($0, $1) }
        let health = Health(depot, stamper)
        router.get("/healthz") { _, _ in await health.get() }
        router.get("/metrics") { _, _ in try await metrics.get(depot, slots, stamper) }
        pages.addRoutes(to: router, seesAll: settings.showPlace)
        return router
    }

    /// The routes of the operator's list. They are served on the loopback interface only.
    private func operatorRouter(_ pages: Pages, _ token: OperatorToken) -> Router<ReceiverContext> {
        let router = Router(context: ReceiverContext.self)
        router.addMiddleware {
            AnswerErrors()
            OperatorGate(token: token)
        }
        pages.addOperatorRoutes(to: router)
        return router
    }

    private func application(
        _ router: Router<ReceiverContext>, _ host: String, _ port: Int, _ connections: Int, _ logger: Logger,
        onListening: @escaping @Sendable (String) async -> Void
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
                await onListening("http://\(name):\(channel.localAddress?.port ?? port)")
            },
            logger: logger)
    }
}
