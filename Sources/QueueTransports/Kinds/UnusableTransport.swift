import CaptureNative
import QueueModel

/// A destination whose settings cannot be used. It is blocked, and the other destinations are not.
final class UnusableTransport: UploadTransport {
    private let trouble: String
    private let block: Block

    init(_ fault: QueueError) {
        trouble = "its settings cannot be used: \(fault.message)"
        block = Block(.local, trouble, cause: .unusable)
    }

    var absence: Block? { block }

    func send(_ job: SendJob, _ control: SendControl) -> SendOutcome { .blocked(block) }

    func poll(_ job: SendJob, _ control: SendControl) -> SendOutcome { .blocked(block) }

    func confirm(_ job: SendJob, _ control: SendControl) -> RemoteState { .unknown(trouble) }

    func fetch(_ job: SendJob, into target: FileHandle, _ control: SendControl) -> String? { trouble }

    func tell(_ marker: SessionMarker, _ control: SendControl) throws -> String { throw SendOutcome.blocked(block) }

    func test(_ control: SendControl) -> DestinationTest { DestinationTest(block: block) }
}
