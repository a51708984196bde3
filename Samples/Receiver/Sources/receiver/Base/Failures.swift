/// Something that a request needs cannot be read at the moment: the object store, or the bytes of a bundle.
struct Unavailable: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// What the operator has to change before a command can go on.
struct Unusable: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
