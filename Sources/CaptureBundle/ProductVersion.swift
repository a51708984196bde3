/// The version of the tools, the libraries and the receiver, which is one; `.ci/version` reads it.
public enum ProductVersion { public static let current = "1.0.0" }
