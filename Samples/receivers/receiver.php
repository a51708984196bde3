<?php // Takes captures with PHP into the folder CAPTURES. It needs enable_post_data_reading=Off.
const LIMIT = 20 << 20;
const REFUSED = [1 => [400, 'ALTERED'], 2 => [400, 'MALFORMED'],
    3 => [403, 'DEVICE_MISMATCH'], 4 => [403, 'NOT_ACCEPTABLE']];

function answer(int $status, string $word): never
{
    http_response_code($status);
    header('Content-Type: application/json');
    if ($status === 503) {
        header('Retry-After: 60');
    }
    exit(json_encode($status === 202 ? ['data' => ['capture_id' => $word]] : ['error' => ['code' => $word]]));
}

function run(string ...$words): int
{
    return proc_close(proc_open($words, [['file', '/dev/null', 'r'], ['file', '/dev/null', 'w']], $pipes));
}

// Trouble, such as a full disk, is not the capture's fault: with 503 it is sent again.
set_error_handler(fn ($kind, $text) => throw new ErrorException($text));
set_exception_handler(fn ($error) => error_log($error) && answer(503, 'STORE_UNAVAILABLE'));
if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    answer(405, 'POST_ONLY');
}
[$store, $length] = [getenv('CAPTURES'), (int) (($_SERVER['CONTENT_LENGTH'] ?? '') ?: LIMIT + 1)];
mkdir($scratch = "$store/." . bin2hex(random_bytes(8)));
register_shutdown_function(fn () => [array_map('unlink', glob("$scratch/*")), rmdir($scratch)]);
[$input, $body, $hash, $size] = [fopen('php://input', 'r'), fopen("$scratch/body", 'w'), hash_init('sha256'), 0];
while (!feof($input)) { // to the end, also if it will be refused
    $size += strlen($piece = fread($input, 65536));
    hash_update($hash, $piece);
    fwrite($body, $length <= LIMIT ? $piece : '');
}
if ($size !== $length || $length > LIMIT) {
    ini_get('enable_post_data_reading') && answer(503, 'POST_DATA_READING');
    $length > LIMIT ? answer(413, 'PAYLOAD_TOO_LARGE') : answer(408, 'BODY_INCOMPLETE');
}
$header = fn ($name) => $_SERVER["HTTP_X_DEVICE_$name"] ?? '';
[$device, $sent, $signature] = array_map($header, ['ID', 'TIMESTAMP', 'SIGNATURE']);
$known = "$store/devices/" . strtolower($device);
if (!preg_match('/^[0-9a-f-]{36} (0|[1-9][0-9]{0,15})$/Di', "$device $sent") || !file_exists("$known.pem")) {
    answer(401, 'DEVICE_AUTH_REQUIRED');
}
if (($age = microtime(true) - $sent / 1000) < -60 || $age > 300) {
    answer(401, 'TIMESTAMP_EXPIRED');
}
[$digest, $der, $key] = [hash_final($hash), base64_decode($signature, true), file_get_contents("$known.pem")];
if (!$der || openssl_verify("$sent|$digest", $der, $key, 'sha256') !== 1) {
    answer(401, 'SIGNATURE_INVALID');
}
[$body, $made, $kept] = ["$scratch/body", "$scratch/bundle", "$store/kept/$digest.bundle"];
$verdict = run('capbundle', 'from-body', $body, '-o', $made, '--trust', "$known.trust", '--quiet');
if ($verdict !== 0) {
    answer(...REFUSED[$verdict] ?? [503, 'STORE_UNAVAILABLE']);
}
rename($made, $kept);
// 202 only when the bytes and the name are on the disk.
run('sync', $kept, dirname($kept)) === 0 ? answer(202, $digest) : answer(503, 'STORE_UNAVAILABLE');
