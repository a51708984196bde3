#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/ess.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/store.h>
#include <openssl/ts.h>
#include <openssl/ui.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// EVP_EC_gen is a macro over a variadic function, so Swift cannot call it.
static inline EVP_PKEY *capture_generate_p256(void) {
    return EVP_EC_gen("P-256");
}

// EVP_PKEY_PUBLIC_KEY is a macro that contains an expression, so Swift does not import it.
static const int capture_public_key_selection = EVP_PKEY_PUBLIC_KEY;

// Swift imports a string macro as a String, whose pointer is valid for one call only. OSSL_PARAM keeps pointers to its
// names and values.
static const char *const capture_param_group = OSSL_PKEY_PARAM_GROUP_NAME;
static const char *const capture_param_public_key = OSSL_PKEY_PARAM_PUB_KEY;
static const char *const capture_p256_name = "prime256v1";

// BIO_get_mem_data is a macro over the untyped BIO_ctrl.
static inline long capture_bio_contents(BIO *bio, const unsigned char **bytes) {
    return BIO_get_mem_data(bio, (char **)bytes);
}

// ERR_GET_REASON uses macros and inline functions whose types differ between releases of OpenSSL.
static inline int capture_error_reason(unsigned long code) {
    return ERR_GET_REASON(code);
}

// ERR_R_MALLOC_FAILURE is a macro that contains an expression, so Swift does not import it.
static const int capture_error_out_of_memory = ERR_R_MALLOC_FAILURE;

#endif
