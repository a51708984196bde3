#!/bin/sh
# Verifies a bundle with tar, sha256sum, gzip and openssl: by_hand.sh BUNDLE PUBKEY.pem
#
# These programs exist even where capbundle does not, or is not trusted. The steps follow section 9 of
# Spec/capture-bundle.md. The script does not check everything that `capbundle verify` checks (padding, canonical forms,
# times): it says whether the owner of PUBKEY.pem signed these files. Exit: 0 yes, 1 no, 64 wrong usage.
set -eu

[ $# = 2 ] || { echo "usage: by_hand.sh BUNDLE PUBKEY.pem" >&2; exit 64; }
bundle=$1
key=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() { echo "by_hand: $*" >&2; exit 1; }
sha256() { sha256sum | cut -c 1-64; }
bytes() { od -An -v -tx1 | tr -d ' \n'; }

# The archive contains the three leading files and those in the manifest, in its order, once each.
tar -tf "$bundle" > "$work/names" 2> /dev/null || fail "tar does not read it"
mkdir "$work/files"
grep -qvE '^(source/)?[0-9a-z][0-9a-z._-]*$' "$work/names" && fail "a name that no bundle has"
tar -xf "$bundle" -C "$work/files" 2> /dev/null || fail "tar does not extract it"
cd "$work/files"
manifest=manifest.json
[ -f $manifest ] && [ -f assertion.cbor ] || fail "no manifest or no assertion"

# The manifest is canonical JSON: members in alphabetical order, no spaces. So every entry has the form
# {"media_type":…,"path":…,"role":…,"sha256":…,"size":…}, which sed can parse.
grep -o '"path":"[^"]*","role":"[^"]*","sha256":"[0-9a-f]*","size":[0-9]*\(,"withholdable":true\)\?}' $manifest |
    sed 's/"path":"\([^"]*\)","role":"[^"]*","sha256":"\([^"]*\)","size":\([0-9]*\)/\2 \3 \1 /' > ../entries
[ -s ../entries ] || fail "the manifest lists nothing"
printf '%s\n' mimetype manifest.json assertion.cbor > ../expected
while read -r hash size path rest; do
    if [ ! -f "$path" ]; then
        [ "$rest" = ',"withholdable":true}' ] || fail "$path is missing"
        echo "withheld: $path"
        continue
    fi
    echo "$path" >> ../expected
    [ "$(sha256 < "$path")" = "$hash" ] || fail "$path is not the file that was signed"
    [ "$(wc -c < "$path")" -eq "$size" ] || fail "$path has another size"
    echo "same bytes: $path"
done < ../entries
cmp -s ../names ../expected || fail "other files, or another order, than the manifest lists"

# The depth map's own hash covers the floats, so it does not depend on the compressor.
floats=$(sed 's/.*"depth":{[^{]*"sha256":"\([0-9a-f]*\)","source":{.*/\1/' $manifest)
if [ -f depth.f32.gz ]; then
    gzip -dc depth.f32.gz > ../depth.f32 2> /dev/null || fail "gzip does not inflate the depth map"
    [ "$(sha256 < ../depth.f32)" = "$floats" ] || fail "the depth map inflates to other floats"
    echo "same floats: depth.f32.gz"
fi

# assertion.cbor: a2 69 "signature" 58 LL <signature> 71 "authenticatorData" 58 25 <37 bytes>
length=$(od -An -tu1 -j 12 -N 1 assertion.cbor | tr -d ' ')
[ "$(head -c 12 assertion.cbor | bytes)" = a2697369676e617475726558 ] || fail "assertion.cbor begins otherwise"
[ "$(wc -c < assertion.cbor)" -eq $((13 + length + 20 + 37)) ] || fail "assertion.cbor has another length"
[ "$(tail -c +$((14 + length)) assertion.cbor | head -c 20 | bytes)" = \
    7161757468656e74696361746f72446174615825 ] || fail "assertion.cbor goes on otherwise"
tail -c +14 assertion.cbor | head -c "$length" > ../signature.der
tail -c 37 assertion.cbor > ../authdata

# nonce = SHA-256(authenticatorData, SHA-256(clientData)); openssl hashes it once more as its message.
type='application/vnd.capture-bundle.manifest+json;version=1'
printf 'DSSEv1 %d %s %d ' ${#type} "$type" "$(wc -c < $manifest)" > ../clientdata
cat $manifest >> ../clientdata
{ cat ../authdata; openssl dgst -sha256 -binary ../clientdata; } | openssl dgst -sha256 -binary > ../nonce
cd - > /dev/null
openssl pkey -pubin -in "$key" -outform DER -out "$work/key.der" 2> /dev/null || fail "not a public key: $key"
openssl dgst -sha256 -verify "$key" -signature "$work/signature.der" "$work/nonce" > /dev/null 2>&1 ||
    fail "the signature is not of this key over this manifest"
device=$(sed 's/.*,"device":"\([^"]*\)","entries":\[.*/\1/' "$work/files/$manifest")
[ "$device" = "$(tail -c 65 "$work/key.der" | openssl base64 -A)" ] || fail "the manifest names another device"
echo "signed by: $(tail -c 65 "$work/key.der" | sha256)"

# The id is the hash of the contents; RFC 9562 fixes two of its digits.
id=$(sed 's/.*"id":"\([0-9a-f-]*\)","version":1}$/\1/' "$work/files/$manifest")
captured=$(sed 's/^{"captured_at":"\([^"]*\)".*/\1/' "$work/files/$manifest")
made=$({
    printf 'capture-bundle/1\n%s\n%s\n' "$(tail -c 65 "$work/key.der" | sha256)" "$captured"
    while read -r hash size path rest; do
        [ "$path" = depth.f32.gz ] && hash=$floats
        printf '%s  %s\n' "$hash" "$path"
    done < "$work/entries"
} | sha256 | cut -c 1-32)
variant=$(printf '%x' $((0x$(printf %s "$made" | cut -c 17) & 3 | 8)))
made=$(printf %s "$made" | sed "s/^\(.\{8\}\)\(.\{4\}\).\(.\{3\}\).\(.\{3\}\)\(.\{12\}\)$/\1-\2-8\3-$variant\4-\5/")
[ "$made" = "$id" ] || fail "the id is not that of the content"
echo "genuine: $id captured at $captured"
