/// The transitions of a delivery, by the table of Spec/queue.md section 5. They depend on nothing but state and event.
public enum DeliveryStateMachine {
    /// - Returns: nil if the table has an empty cell, which means that the state refuses the event.
    public static func next(_ state: DeliveryState, _ event: DeliveryEvent) -> DeliveryState? {
        let (sources, target): ([DeliveryState], DeliveryState) =
            switch event {
            case .claim: ([.pending, .failed], .uploading)
            case .accept: ([.uploading], .processing)
            case .complete: ([.uploading, .processing], .completed)
            case .fail: ([.uploading, .processing], .failed)
            // A delivery can reach its lifetime between two tries.
            case .reject: ([.pending, .uploading, .processing, .failed], .permanentlyFailed)
            case .conflict: ([.uploading, .processing], .conflict)
            case .park: ([.uploading, .processing], .pending)
            case .hold: ([.pending, .uploading, .failed], .held)
            case .release: ([.held], .pending)
            case .cancel: (allBut(.completed, .cancelled), .cancelled)
            case .retry: ([.failed, .permanentlyFailed, .conflict, .cancelled], .pending)
            case .record: (allBut(.completed), .completed)
            case .push: ([state], state == .cancelled ? .pending : state)
            case .damage: (allBut(.completed, .held, .cancelled, .quarantined), .quarantined)
            case .restore: ([.quarantined], .pending)
            case .lose, .resend: ([.completed], .pending)
            }
        return sources.contains(state) ? target : nil
    }

    private static func allBut(_ states: DeliveryState...) -> [DeliveryState] {
        DeliveryState.allCases.filter { !states.contains($0) }
    }

    /// Whether the event comes before the result of a try is known. The server may then have the capture.
    package static func interrupts(_ state: DeliveryState, _ event: DeliveryEvent) -> Bool {
        [.uploading, .processing].contains(state) && [.hold, .cancel, .damage].contains(event)
    }
}
