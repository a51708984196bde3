// A conformance is as public as its type, and its imports must be public too.
public import ArgumentParser
public import CaptureBundle

extension LocationPolicy: ExpressibleByArgument {}

extension TrustLevel: ExpressibleByArgument {}

extension CaptureTime: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}
