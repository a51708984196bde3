# Runs the scripts that come in, one a line in base64; answers with exit code, size, a newline and the output.
folder=$(mktemp -d /tmp/agent.XXXXXX)
echo ready
while read -r line; do
    echo "$line" | base64 -d >"$folder/script"
    sh "$folder/script" >"$folder/output" 2>&1 </dev/null
    code=$?
    echo "$code $(wc -c <"$folder/output")"
    cat "$folder/output"
done
