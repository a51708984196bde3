import CaptureBundle
import CaptureImport
import CaptureTestSupport
import Testing

/// XMP is read with its namespaces, and XML that XMP does not need is refused.
struct XMPPacketTests {
    private static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

    private static func packet(_ inside: String, attributes: String = "") -> XMPPacket? {
        XMPPacket(
            Array(
                ("<?xpacket begin='\u{feff}' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'>"
                    + "<r:RDF xmlns:r='\(rdf)'><r:Description r:about='' xmlns:p='urn:p' \(attributes)>\(inside)"
                    + "</r:Description></r:RDF></x:xmpmeta>  <?xpacket end='w'?>").utf8))
    }

    @Test func readsElementsAttributesAndArrays() throws {
        let packet = try #require(
            Self.packet(
                "<p:one> 1 </p:one><q:two xmlns:q='urn:q'>a&lt;&#x26;&#98;</q:two><!-- no -->"
                    + "<p:list><r:Seq><r:li>1</r:li><r:li/></r:Seq></p:list>"
                    + "<p:form r:parseType='Resource'><p:inner>5</p:inner></p:form>"
                    + "<p:forms><r:Bag><r:li><r:Description><p:x>1</p:x></r:Description></r:li></r:Bag></p:forms>",
                attributes: "p:three='&quot;3&apos;' xmlns:p2='urn:p' p2:four='4'"))
        #expect(packet.text("urn:p", "one") == " 1 ")
        #expect(packet.text("urn:q", "two") == "a<&b")
        #expect(packet.text("urn:p", "two") == nil)
        #expect(packet.text("urn:p", "three") == "\"3'")
        #expect(packet.text("urn:p", "four") == "4")
        #expect(packet.texts("urn:p", "list") == ["1", ""])
        for name in ["form", "forms", "inner", "x"] { #expect(packet.texts("urn:p", name) == nil, "\(name)") }
    }

    static let refused: [String] = [
        "<p:a>&b;</p:a>", "<p:a>&#0;</p:a>", "<p:a>&#xd800;</p:a>", "<p:a>&#99999999999;</p:a>", "<p:a>&amp</p:a>",
        "<p:a></p:b>", "<p:a p:x=1/>", "<p:a p:x='<'/>", "<nobody:a/>", "<p:a:b/>", "<:a/>",
        "<!DOCTYPE x>", "<p:a><![CDATA[1]]></p:a>", "<!ENTITY x 'y'>", "<p:a", "<!-- ", "<p:a>\0</p:a>", "< p:a/>",
        "<p:a/ >", tooDeep, tooWide,
        tooMany,
    ]
    private static let tooDeep = String(repeating: "<p:a>", count: 80) + String(repeating: "</p:a>", count: 80)
    private static let tooWide = "<p:a " + (0..<300).map { "p:a\($0)=''" }.joined(separator: " ") + "/>"
    private static let tooMany = (0..<5000).map { "<p:a\($0)/>" }.joined()

    @Test(arguments: refused)
    func refuses(_ inside: String) { #expect(Self.packet(inside) == nil) }

    @Test func refusesADocumentTypeAndBytesThatAreNotUTF8() {
        #expect(XMPPacket(Array("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>".utf8)) == nil)
        #expect(XMPPacket(Array("<a>".utf8) + [0xc3, 0x28] + Array("</a>".utf8)) == nil)
        #expect(XMPPacket([0xff, 0xfe, 0x3c, 0, 0x61, 0, 0x2f, 0, 0x3e, 0]) == nil)
    }
}
