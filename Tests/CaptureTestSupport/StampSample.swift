import CaptureBundle

/// A time stamp of the sample bundle that `openssl ts` made in a test, and the root of its authority.
public enum StampSample {
    private static let response = """
        MIIEeDADAgEAMIIEbwYJKoZIhvcNAQcCoIIEYDCCBFwCAQMxDzANBglghkgBZQMEAgEFADByBgsqhkiG9w0BCRABBKBjBGEwXwIB
        AQYDKgMEMDEwDQYJYIZIAWUDBAIBBQAEIFhLFSDdVY73ejAk2QFXmeZG2yJ7i0xfgVRYSh1EhSUVAgECGA8yMDI2MDMxNDE1MDAw
        MFowAwIBAQIJANL1hBrQ2AA6oIICkjCCAUUwge2gAwIBAgIUd4WfPPRKwIhYcpQ7Zs9nvBxj5qswCgYIKoZIzj0EAwIwDzENMAsG
        A1UEAwwEcm9vdDAeFw0yMDAxMDEwMDAwMDBaFw00MDAxMDEwMDAwMDBaMA4xDDAKBgNVBAMMA3RzYTBZMBMGByqGSM49AgEGCCqG
        SM49AwEHA0IABO1X45aJpFhmOAQNmw7xoVfR4ga39wmywFv3YKHpqvdEGSbMcsiLDfBlDQoJ7JznES8nlhIGrKwYUPLC8ACE56qj
        KDAmMAwGA1UdEwEB/wQCMAAwFgYDVR0lAQH/BAwwCgYIKwYBBQUHAwgwCgYIKoZIzj0EAwIDRwAwRAIgQKoWa3wP6BOvAEL2d6ry
        7R6pogyZkL6g1dU4P93csfECIEtn+qsNzEZ/4jMyKKDBQE0Ik/WDXdHQg1S7JmTQisrcMIIBRTCB7aADAgECAhR3hZ889ErAiFhy
        lDtmz2e8HGPmqzAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARyb290MB4XDTIwMDEwMTAwMDAwMFoXDTQwMDEwMTAwMDAwMFowDjEM
        MAoGA1UEAwwDdHNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE7VfjlomkWGY4BA2bDvGhV9HiBrf3CbLAW/dgoemq90QZJsxy
        yIsN8GUNCgnsnOcRLyeWEgasrBhQ8sLwAITnqqMoMCYwDAYDVR0TAQH/BAIwADAWBgNVHSUBAf8EDDAKBggrBgEFBQcDCDAKBggq
        hkjOPQQDAgNHADBEAiBAqhZrfA/oE68AQvZ3qvLtHqmiDJmQvqDV1Tg/3dyx8QIgS2f6qw3MRn/iMzIooMFATQiT9YNd0dCDVLsm
        ZNCKytwxggE6MIIBNgIBATAnMA8xDTALBgNVBAMMBHJvb3QCFHeFnzz0SsCIWHKUO2bPZ7wcY+arMA0GCWCGSAFlAwQCAQUAoIGk
        MBoGCSqGSIb3DQEJAzENBgsqhkiG9w0BCRABBDAcBgkqhkiG9w0BCQUxDxcNMjYwMzE0MTUwMDAwWjAvBgkqhkiG9w0BCQQxIgQg
        CTSL+ICwyl0v/0VYxmHvTarhMh1xMMDu+MY+w0sEn4QwNwYLKoZIhvcNAQkQAi8xKDAmMCQwIgQgfbhT6bxc7+DppS3sFyNKCXRT
        o7bz4z3akcbsfXnZIA4wCgYIKoZIzj0EAwIERjBEAiAeik9D9OQK1cJovh4MmDpU1s8PmjQcDZQ5f1g5EQLhkAIgUKLpY2hpbw3R
        MTsRQwPdwrf0ipoUJrapxzHCsblH0e8=
        """
    private static let root = """
        MIIBMjCB2aADAgECAhRbf6kO+clNe8/tsHHCY1S/BiIcYTAKBggqhkjOPQQDAjAPMQ0wCwYDVQQDDARyb290MB4XDTIwMDEwMTAw
        MDAwMFoXDTQwMDEwMTAwMDAwMFowDzENMAsGA1UEAwwEcm9vdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABMs3s3zdtUyqiRmO
        K5usFoc9mx18XwqTJpzq/vEGbafyDQr42ldlUXTEWXj7VN+d6sAkGN4fGImQ/kXuvBm/4xmjEzARMA8GA1UdEwEB/wQFMAMBAf8w
        CgYIKoZIzj0EAwIDSAAwRQIgL0VSz8FY+u2ZEjjiRLWKyEeC45U4GzQtyRfmCFoZIMACIQCVyusTXjqBwnZcZoeQlVezabsJS3oK
        fcAHoB5KIq7A4A==
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
