import CaptureBundle

/// A time stamp of the sample bundle that `openssl ts` made in a test, and the root of its authority.
public enum StampSample {
    private static let response = """
        MIIDMjADAgEAMIIDKQYJKoZIhvcNAQcCoIIDGjCCAxYCAQMxDzANBglghkgBZQMEAgEFADByBgsqhkiG9w0BCRABBKBjBGEwXwIB
        AQYDKgMEMDEwDQYJYIZIAWUDBAIBBQAEIFhLFSDdVY73ejAk2QFXmeZG2yJ7i0xfgVRYSh1EhSUVAgECGA8yMDI2MDMxNDE1MDAw
        MFowAwIBAQIJAJMtPKa6f8+loIIBSjCCAUYwge2gAwIBAgIUbcKgRgs6kkbh3m6EjTiQ5rmArtgwCgYIKoZIzj0EAwIwDzENMAsG
        A1UEAwwEcm9vdDAeFw0yMDAxMDEwMDAwMDBaFw00MDAxMDEwMDAwMDBaMA4xDDAKBgNVBAMMA3RzYTBZMBMGByqGSM49AgEGCCqG
        SM49AwEHA0IABKRBWHOkxXBJVe/qL4gUqGEqxbeMUjO5r5B6t2mvX3J3CwERcXeFgNlznXXYUNvVBMmqjf6R37nBe03nR//QEE+j
        KDAmMAwGA1UdEwEB/wQCMAAwFgYDVR0lAQH/BAwwCgYIKwYBBQUHAwgwCgYIKoZIzj0EAwIDSAAwRQIgR8CWbLHbgMz00udAJ/ks
        Bl1DKnOfcHPtzeNBnObepYYCIQCnkt5Sw2QxEtTGSuPZ3ZnIv5f4/Ogk1csV5LEWa9baoTGCATwwggE4AgEBMCcwDzENMAsGA1UE
        AwwEcm9vdAIUbcKgRgs6kkbh3m6EjTiQ5rmArtgwDQYJYIZIAWUDBAIBBQCggaQwGgYJKoZIhvcNAQkDMQ0GCyqGSIb3DQEJEAEE
        MBwGCSqGSIb3DQEJBTEPFw0yNjAzMTQxNTAwMDBaMC8GCSqGSIb3DQEJBDEiBCBftQLvLWG3SVaQ92zDBI9e+U6VV9KxWA5TWl5D
        uwZgTTA3BgsqhkiG9w0BCRACLzEoMCYwJDAiBCCDqhFzGfFkmYCAT50+27HoYOE2q9ypS5SCS2WBBYyUUzAKBggqhkjOPQQDAgRI
        MEYCIQDPfObc2gSX8imIMP/0fnxYuZ4NAqkMo/ZDp+07lDHE+wIhAMSqJxtKSpewS6wwLiZz3G5mXaN1IbyzG6NMqlZdrbYt
        """
    private static let root = """
        MIIBMjCB2aADAgECAhRbBhdKAeqatGwoUxnHfelFBKXzeDAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARyb290MB4XDTIwMDEwMTAw
        MDAwMFoXDTQwMDEwMTAwMDAwMFowDzENMAsGA1UEAwwEcm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABJGeHTm2JdXRB8oN
        AJOjYP3HmMvTDB7H3gKobR9Hp2upKGgOd1nIUU8VeRr0vn/NWzNFltgWRwAsPKKbz/xEAWujEzARMA8GA1UdEwEB/wQFMAMBAf8w
        CgYIKoZIzj0EAwIDSAAwRQIhAPdgW9UhgwJJJTSG0CJbkYTHh2KlzCCyotlUwCJOTnF5AiBbyXiZQFqZwmBszmgakATDPTDlXa+j
        Bq+WgxG2f7fj5Q==
        """

    /// What is stamped: SHA-256 of the sample's `assertion.cbor`.
    public static let imprint = "584b1520dd558ef77a3024d9015799e646db227b8b4c5f8154584a1d44852515"
    /// The line of the authority in a trust file.
    public static var line: String { "office tsa \(joined(root))" }
    public static var bytes: [UInt8] { Base64.decode(joined(response)) ?? [] }

    private static func joined(_ text: String) -> String {
        String(decoding: text.utf8.filter { $0 != 0x0a }, as: UTF8.self)
    }
}
