import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Sent by the handler of a request once it accepts the headers and wants the body.
struct BodyAccepted: Sendable {}

/// Sent when another request needs the slot of this one.
struct BodyGivenUp: Sendable {}

/// The body of a request arrived more slowly than the limits allow.
struct BodyTooSlow: Error {}

private enum Limits {
    /// From the start of the connection to the end of the first headers.
    static let head = TimeAmount.seconds(10)
    /// Between two requests, including the headers of the second one.
    static let idle = TimeAmount.seconds(60)
    /// Without a byte of the body.
    static let stall = TimeAmount.seconds(10)
    /// The minimum average rate of a body, in bytes per second.
    static let slowest = 50_000
    /// Without progress while the client reads an answer.
    static let reading = TimeAmount.seconds(60)
    /// How long the rest of a refused body is read and dropped, so that the client can read the answer.
    static let lingering = TimeAmount.seconds(10)
    /// The size of one read of headers, and of one read of a body. Idle connections take little memory that way.
    static let headPiece = 4 * 1024
    static let bodyPiece = 16 * 1024
}

/// Keeps a connection from waiting for ever, and reads a body only after its headers were accepted.
///
/// - Headers and idle connections have a deadline. After it, the connection is closed.
/// - No byte of a body is read before the event `BodyAccepted`. A client that asked for it then gets `100 Continue`.
/// - A body that is too slow ends with the error `BodyTooSlow`. Only the time in which we waited for the client counts.
/// - The event `BodyGivenUp` ends a body with the error `APIError.busy`.
/// - If the answer comes before the end of the body, it says `Connection: close`. The rest of the body is dropped for a
///   while, because a connection that is closed with unread bytes may lose the answer.
final class RequestPacing: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private enum Phase {
        /// The headers of the next request are expected.
        case head
        /// The headers arrived, and the handler of the request has not accepted them yet.
        case held
        case body
        /// The whole request arrived.
        case answering
        /// The answer was sent before the whole request arrived.
        case lingering
    }

    private var phase = Phase.head
    private var expectsContinue = false
    /// The number of requests that are not fully answered. It is above 1 if the client pipelines.
    private var openRequests = 0
    private var closesEarly = false
    private var isReadHeld = false
    /// When the present wait for bytes of the body began.
    private var waitingSince: NIODeadline?
    private var waited = TimeAmount.zero
    private var received = 0
    private var phaseTimer: Scheduled<Void>?
    private var writeTimer: Scheduled<Void>?

    // MARK: - The connection

    func handlerAdded(context: ChannelHandlerContext) {
        setPiece(Limits.headPiece, context)
        setDeadline(.now() + Limits.head, context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        phaseTimer?.cancel()
        writeTimer?.cancel()
        context.fireChannelInactive()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if phase == .lingering, case ChannelEvent.inputClosed = event {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        // Others close after the answer. While the rest of a body is dropped, this handler decides when.
        if phase == .lingering, mode == .all {
            context.channel.closeFuture.cascade(to: promise)
            return
        }
        if mode == .output { setDeadline(.now() + Limits.lingering, context) }
        context.close(mode: mode, promise: promise)
    }

    // MARK: - The request

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if phase == .lingering {
            if case .end = part { context.close(promise: nil) }
            return
        }
        switch part {
        case .head(let head):
            openRequests += 1
            expectsContinue = head.headerFields[.expect]?.lowercased() == "100-continue"
            phase = .held
        case .body(let piece):
            if let since = waitingSince { waited = waited + (.now() - since) }
            received += piece.readableBytes
        case .end: phase = .answering
        }
        waitingSince = nil
        setDeadline(nil, context)
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if phase == .lingering { context.read() } else { context.fireChannelReadComplete() }
    }

    func read(context: ChannelHandlerContext) {
        guard phase != .held else {
            isReadHeld = true
            return
        }
        if phase == .body, waitingSince == nil {
            let now = NIODeadline.now()
            let allowed = Limits.stall + .nanoseconds(Int64(received) * 1_000_000_000 / Int64(Limits.slowest))
            waitingSince = now
            setDeadline(now + (allowed - waited), context)
        }
        context.read()
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        if event is BodyGivenUp, phase == .body {
            setDeadline(nil, context)
            context.fireErrorCaught(APIError.busy)
        }
        guard event is BodyAccepted else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        if phase == .held {
            phase = .body
            waited = .zero
            received = 0
            setPiece(Limits.bodyPiece, context)
            if expectsContinue {
                context.writeAndFlush(wrapOutboundOut(.head(.init(status: .continue))), promise: nil)
            }
            if isReadHeld { read(context: context) }
            isReadHeld = false
        }
        promise?.succeed()
    }

    // MARK: - The answer

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(var head):
            if phase == .held || phase == .body, openRequests == 1 {
                closesEarly = true
                head.headerFields[.connection] = "close"
            }
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .body: context.write(data, promise: promise)
        case .end:
            openRequests -= 1
            if closesEarly {
                linger(context, data, promise)
            } else {
                context.write(data, promise: promise)
                if openRequests == 0 {
                    phase = .head
                    setPiece(Limits.headPiece, context)
                    setDeadline(.now() + Limits.idle, context)
                }
            }
        }
    }

    private func linger(_ context: ChannelHandlerContext, _ data: NIOAny, _ promise: EventLoopPromise<Void>?) {
        let isComplete = phase == .answering
        phase = .lingering
        setDeadline(.now() + Limits.lingering, context)
        context.writeAndFlush(data, promise: promise)
        if isComplete {
            context.close(promise: nil)
        } else {
            context.close(mode: .output, promise: nil)
            context.read()
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        writeTimer?.cancel()
        writeTimer =
            context.channel.isWritable ? nil : schedule(.now() + Limits.reading, context) { $0.close(promise: nil) }
        context.fireChannelWritabilityChanged()
    }

    private func setPiece(_ size: Int, _ context: ChannelHandlerContext) {
        try? context.channel.syncOptions?.setOption(
            .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: size))
    }

    private func setDeadline(_ deadline: NIODeadline?, _ context: ChannelHandlerContext) {
        phaseTimer?.cancel()
        phaseTimer = deadline.map { deadline in
            schedule(deadline, context) { context in
                if self.phase == .body { context.fireErrorCaught(BodyTooSlow()) } else { context.close(promise: nil) }
            }
        }
    }

    private func schedule(
        _ deadline: NIODeadline, _ context: ChannelHandlerContext, _ body: @escaping (ChannelHandlerContext) -> Void
    ) -> Scheduled<Void> {
        context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { body(context) }
    }
}
