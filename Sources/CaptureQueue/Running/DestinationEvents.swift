import QueueModel
import QueueTransports

/// Reports what happens to the deliveries of a destination.
extension RunOwner {
    func report(
        _ name: QueueEvent.Name, _ capture: CaptureRecord, _ destination: Destination, at now: Int,
        _ add: (inout QueueEvent) -> Void = { _ in }
    ) {
        var event = QueueEvent(name, at: now, destination: self.name(destination))
        event.id = capture.id
        event.sha256 = capture.sha256
        event.bytes = capture.byteCount
        event.session = capture.session
        add(&event)
        report(event)
    }

    func report(_ change: CircuitBreaker.Change?, _ destination: Destination, _ takenBack: [CaptureRecord] = []) {
        switch change {
        case .blocked(let block):
            report(block.reason == .offline ? .offline : .blocked, destination, block.message) { event in
                (event.code, event.cause, event.until) = (block.reason.rawValue, block.cause, block.until)
            }
        case .ready:
            report(.ready, destination)
            moved()
        case nil: break
        }
        for capture in takenBack {
            report(.pending, capture, destination, at: now) { event in
                (event.state, event.message) = (.pending, "waits again: the destination refuses everything")
            }
        }
    }
}

extension QueueEvent {
    mutating func describe(_ outcome: SendOutcome) {
        code = outcome.code
        message = outcome.trouble
        switch outcome {
        case .completed(let receipt, let id, let url): (self.receipt, remoteID, remoteURL) = (receipt, id, url)
        case .accepted(let id, let url): (remoteID, remoteURL) = (id, url)
        default: break
        }
    }
}
