/// The transitions of a delivery, by the table of Spec/queue.md section 5. They depend on nothing but state and event.
public enum DeliveryStateMachine {
    /// - Returns: nil if the table has an empty cell, which means that the state refuses the event.
    public static func next(_ state: DeliveryState, _ event: DeliveryEvent) -> DeliveryState? {
        switch event {
        case .claim, .accept, .complete, .fail, .reject, .conflict, .park: afterTry(state, event)
        case .hold, .release, .cancel, .retry, .record: afterUser(state, event)
        case .push: state == .cancelled ? .pending : state
        case .damage: [.completed, .held, .cancelled, .quarantined].contains(state) ? nil : .quarantined
        case .restore: state == .quarantined ? .pending : nil
        case .lose, .resend: state == .completed ? .pending : nil
        }
    }

    /// Whether the event comes before the result of a try is known. The server may then have the capture.
    package static func interrupts(_ state: DeliveryState, _ event: DeliveryEvent) -> Bool {
        [.uploading, .processing].contains(state) && [.hold, .cancel, .damage].contains(event)
    }

    /// The events of a run and of the server's answers.
    private static func afterTry(_ state: DeliveryState, _ event: DeliveryEvent) -> DeliveryState? {
        switch (state, event) {
        case (.pending, .claim), (.failed, .claim): .uploading
        case (.uploading, .accept): .processing
        case (.uploading, .complete), (.processing, .complete): .completed
        case (.uploading, .fail), (.processing, .fail): .failed
        // A delivery can reach its lifetime between two tries.
        case (.pending, .reject), (.uploading, .reject), (.processing, .reject), (.failed, .reject): .permanentlyFailed
        case (.uploading, .conflict), (.processing, .conflict): .conflict
        case (.uploading, .park), (.processing, .park): .pending
        default: nil
        }
    }

    private static func afterUser(_ state: DeliveryState, _ event: DeliveryEvent) -> DeliveryState? {
        switch (state, event) {
        case (.pending, .hold), (.uploading, .hold), (.failed, .hold): .held
        case (.held, .release): .pending
        case (.completed, .cancel), (.cancelled, .cancel): nil
        case (_, .cancel): .cancelled
        case (.failed, .retry), (.permanentlyFailed, .retry), (.conflict, .retry), (.cancelled, .retry): .pending
        case (.completed, .record): nil
        case (_, .record): .completed
        default: nil
        }
    }
}
