#pragma once
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

// Why there are shims at all: OpenSSL 3 passes the inputs of a derivation as an array of OSSL_PARAM, structs made by
// value around borrowed pointers and names that are string macros. In C the array and the names live on the stack for
// exactly the length of the call; Swift would need a nest of closures to promise the same. Each shim is one call,
// borrows every pointer, keeps none, and returns 1 for success as EVP does.

static inline OSSL_PARAM whorl_octets(const char *name, const void *bytes, size_t count) {
  // Not const in OpenSSL's signature because the same struct also describes outputs; inputs are only read.
  return OSSL_PARAM_construct_octet_string(name, (void *)bytes, count);
}

// An empty salt or info is left out: to HKDF it is the same as none, and libcrypto refuses some empty octet strings.
static inline int whorl_hkdf_sha256(
    EVP_KDF *kdf, const void *key, size_t key_count, const void *salt, size_t salt_count, const void *info,
    size_t info_count, unsigned char *out, size_t out_count) {
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
  if (context == NULL) return 0;
  OSSL_PARAM parameters[5], *next = parameters;
  *next++ = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA2-256", 0);
  *next++ = whorl_octets(OSSL_KDF_PARAM_KEY, key, key_count);
  if (salt_count > 0) *next++ = whorl_octets(OSSL_KDF_PARAM_SALT, salt, salt_count);
  if (info_count > 0) *next++ = whorl_octets(OSSL_KDF_PARAM_INFO, info, info_count);
  *next = OSSL_PARAM_construct_end();
  int result = EVP_KDF_derive(context, out, out_count, parameters);
  EVP_KDF_CTX_free(context);
  return result;
}

// `memory` is the most the derivation may allocate, in bytes; libcrypto's own limit is 32 MiB, too little for N = 2^17.
static inline int whorl_scrypt(
    EVP_KDF *kdf, const void *passcode, size_t passcode_count, const void *salt, size_t salt_count, uint64_t n,
    uint32_t r, uint32_t p, uint64_t memory, unsigned char *out, size_t out_count) {
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
  if (context == NULL) return 0;
  OSSL_PARAM parameters[] = {
      whorl_octets(OSSL_KDF_PARAM_PASSWORD, passcode, passcode_count),
      whorl_octets(OSSL_KDF_PARAM_SALT, salt, salt_count),
      OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_N, &n),
      OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_R, &r),
      OSSL_PARAM_construct_uint32(OSSL_KDF_PARAM_SCRYPT_P, &p),
      OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_SCRYPT_MAXMEM, &memory),
      OSSL_PARAM_construct_end(),
  };
  int result = EVP_KDF_derive(context, out, out_count, parameters);
  EVP_KDF_CTX_free(context);
  return result;
}

// `out` holds 32 bytes.
static inline int whorl_hmac_sha256(
    EVP_MAC *mac, const void *key, size_t key_count, const void *bytes, size_t count, unsigned char *out) {
  EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
  if (context == NULL) return 0;
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)"SHA2-256", 0),
      OSSL_PARAM_construct_end(),
  };
  size_t written = 0;
  int result = EVP_MAC_init(context, (const unsigned char *)key, key_count, parameters) == 1 &&
               EVP_MAC_update(context, (const unsigned char *)bytes, count) == 1 &&
               EVP_MAC_final(context, out, &written, 32) == 1 && written == 32;
  EVP_MAC_CTX_free(context);
  return result;
}
