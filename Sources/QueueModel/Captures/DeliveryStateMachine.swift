/// The transitions of a delivery: the table of Spec/queue.md section 5. No clock, no store, no chance.
public enum DeliveryStateMachine {
    /// - Returns: nil where the table has an empty cell: the event is refused in that state.
    public static func next(_ state: DeliveryState, _ event: DeliveryEvent) -> DeliveryState? {
        switch event {
        case .claim, .accept, .complete, .fail, .reject, .conflict, .park: afterTry(state, event)
        case .hold, .release, .cancel, .retry, .record: afterUser(state, event)
        case .push: state == .cancelled ? .pending : state
        case .damage: isDamaged(state) ? .quarantined : nil
        case .restore: state == .quarantined ? .pending : nil
        case .lose, .resend: state == .completed ? .pending : nil
        }
    }

    /// What a run does, and what it hears.
    private static func afterTry(_ state: DeliveryState, _ event: DeliveryEvent) -> DeliveryState? {
        switch (state, event) {
        case (.pending, .claim), (.failed, .claim): .uploading
        case (.uploading, .accept): .processing
        case (.uploading, .complete), (.processing, .complete): .completed
        case (.uploading, .fail), (.processing, .fail): .failed
        // A lifetime can be over between two tries, too.
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

    private static func isDamaged(_ state: DeliveryState) -> Bool {
        switch state {
        case .pending, .uploading, .processing, .failed, .permanentlyFailed, .conflict: true
        case .completed, .held, .cancelled, .quarantined: false
        }
    }
}
