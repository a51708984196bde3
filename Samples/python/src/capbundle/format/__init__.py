"""The rules of Spec/capture-bundle.md: a reader made from that page alone, which never calls our tools.

A module has the rules of one part. Section numbers refer to that page. These modules use only the standard library and
`cryptography`. They may change with any version; the names in `capbundle` itself do not.
"""
