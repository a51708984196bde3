#ifndef CCURL_SHIM_H
#define CCURL_SHIM_H

#include <curl/curl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include "../CLinux/table.h"

// libcurl and the thirty libraries that it needs take 6 ms to load, and every push would pay for that. Therefore it is
// not linked: the first request of a run loads it.
#define CAPTURE_CURL_CALLS(CALL) \
    CALL(curl_, global_init) \
    CALL(curl_, easy_init) \
    CALL(curl_, easy_reset) \
    CALL(curl_, easy_perform) \
    CALL(curl_, easy_cleanup) \
    CALL(curl_, easy_strerror) \
    CALL(curl_, slist_append) \
    CALL(curl_, slist_free_all) \
    CALL(curl_, url) \
    CALL(curl_, url_set) \
    CALL(curl_, url_get) \
    CALL(curl_, url_cleanup) \
    CALL(curl_, free)

struct capture_curl {
    CAPTURE_CURL_CALLS(CAPTURE_MEMBER)
    // These two are variadic, so Swift cannot call them. The functions below do.
    void *easy_setopt;
    void *easy_getinfo;
};

// Fills the whole table or fails. The library stays loaded.
static inline int capture_curl_load(struct capture_curl *table) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    int found = 1;
    CAPTURE_CURL_CALLS(CAPTURE_FIND)
    CAPTURE_FIND(curl_, easy_setopt)
    CAPTURE_FIND(curl_, easy_getinfo)
    return found && table->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

typedef CURLcode (*capture_setopt)(CURL *, CURLoption, ...);
typedef CURLcode (*capture_getinfo)(CURL *, CURLINFO, ...);

static inline CURLcode capture_curl_set_long(const struct capture_curl *t, CURL *handle, CURLoption option, long value) {
    return ((capture_setopt)t->easy_setopt)(handle, option, value);
}

static inline CURLcode capture_curl_set_size(
    const struct capture_curl *t, CURL *handle, CURLoption option, long long value) {
    return ((capture_setopt)t->easy_setopt)(handle, option, (curl_off_t)value);
}

static inline CURLcode capture_curl_set_text(
    const struct capture_curl *t, CURL *handle, CURLoption option, const char *value) {
    return ((capture_setopt)t->easy_setopt)(handle, option, value);
}

static inline CURLcode capture_curl_set_list(
    const struct capture_curl *t, CURL *handle, CURLoption option, struct curl_slist *value) {
    return ((capture_setopt)t->easy_setopt)(handle, option, value);
}

// `detail` must have CURL_ERROR_SIZE bytes and live as long as the handle.
static inline void capture_curl_set_detail(const struct capture_curl *t, CURL *handle, char *detail) {
    ((capture_setopt)t->easy_setopt)(handle, CURLOPT_ERRORBUFFER, detail);
}

typedef size_t (*capture_read)(char *, size_t, size_t, void *);
typedef size_t (*capture_write)(char *, size_t, size_t, void *);
typedef int (*capture_seek)(void *, curl_off_t, int);
typedef int (*capture_progress)(void *, curl_off_t, curl_off_t, curl_off_t, curl_off_t);

// Sets all callbacks of a transfer. Each of them gets the same context.
static inline void capture_curl_set_callbacks(
    const struct capture_curl *t, CURL *handle, void *context, capture_read read, capture_seek seek, capture_write write,
    capture_write header, capture_progress progress) {
    capture_setopt set = (capture_setopt)t->easy_setopt;
    set(handle, CURLOPT_READFUNCTION, read);
    set(handle, CURLOPT_READDATA, context);
    set(handle, CURLOPT_SEEKFUNCTION, seek);
    set(handle, CURLOPT_SEEKDATA, context);
    set(handle, CURLOPT_WRITEFUNCTION, write);
    set(handle, CURLOPT_WRITEDATA, context);
    set(handle, CURLOPT_HEADERFUNCTION, header);
    set(handle, CURLOPT_HEADERDATA, context);
    set(handle, CURLOPT_XFERINFOFUNCTION, progress);
    set(handle, CURLOPT_XFERINFODATA, context);
    set(handle, CURLOPT_NOPROGRESS, 0L);
}

typedef int (*capture_opened)(void *, curl_socket_t, curlsocktype);
typedef int (*capture_close)(void *, curl_socket_t);

// Both callbacks get the same context, which must live as long as the connections that are opened with it.
static inline void capture_curl_set_sockets(
    const struct capture_curl *t, CURL *handle, void *context, capture_opened opened, capture_close close) {
    capture_setopt set = (capture_setopt)t->easy_setopt;
    set(handle, CURLOPT_SOCKOPTFUNCTION, opened);
    set(handle, CURLOPT_SOCKOPTDATA, context);
    set(handle, CURLOPT_CLOSESOCKETFUNCTION, close);
    set(handle, CURLOPT_CLOSESOCKETDATA, context);
}

// Calls the variadic ioctl(2) with SIOCOUTQ of linux/sockios.h. The result is the number of bytes that were written to
// a TCP socket and that the other side has not acknowledged; 0 if the kernel does not report it.
static inline int capture_unsent(int socket) {
    extern int ioctl(int, unsigned long, ...);
    int count = 0;
    return ioctl(socket, 0x5411, &count) == 0 ? count : 0;
}

// The number of bytes that a TCP socket has received, from tcpi_bytes_received of linux/tcp.h, which cannot be included
// beside the older netinet/tcp.h. The end of a connection counts as one byte. -1 if the kernel does not report it.
static inline long capture_received(int socket) {
    unsigned char info[136];
    socklen_t length = sizeof info;
    long long received = 0;
    if (getsockopt(socket, IPPROTO_TCP, 11 /* TCP_INFO */, info, &length) != 0 || length < sizeof info) return -1;
    __builtin_memcpy(&received, info + 128, sizeof received);
    return (long)received;
}

static inline long capture_curl_get_long(const struct capture_curl *t, CURL *handle, CURLINFO info) {
    long value = 0;
    ((capture_getinfo)t->easy_getinfo)(handle, info, &value);
    return value;
}

// The socket of the last transfer; -1 if its connection is closed.
static inline int capture_curl_socket(const struct capture_curl *t, CURL *handle) {
    curl_socket_t found = CURL_SOCKET_BAD;
    ((capture_getinfo)t->easy_getinfo)(handle, CURLINFO_ACTIVESOCKET, &found);
    return found;
}

static inline double capture_curl_get_double(const struct capture_curl *t, CURL *handle, CURLINFO info) {
    double value = 0;
    ((capture_getinfo)t->easy_getinfo)(handle, info, &value);
    return value;
}

// NULL if there is no value. The text is valid until the handle is used again.
static inline const char *capture_curl_get_text(const struct capture_curl *t, CURL *handle, CURLINFO info) {
    char *value = NULL;
    ((capture_getinfo)t->easy_getinfo)(handle, info, &value);
    return value;
}

// Constants that are macros with casts and that callbacks return, as numbers.
static inline size_t capture_read_abort(void) { return CURL_READFUNC_ABORT; }

#endif
