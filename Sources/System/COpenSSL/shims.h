#pragma once
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/param_build.h>
#include <openssl/params.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

// Why these shims exist: OpenSSL 3 passes the inputs of a derivation as an array of OSSL_PARAM, structs that hold
// borrowed pointers and whose names are string macros. In C the array and the pointers are valid for exactly the length
// of the call; in Swift that takes deeply nested closures. Each shim makes one operation, borrows every pointer, keeps
// none, and returns 1 for success as EVP does.

static inline OSSL_PARAM whorl_octets(const char *name, const void *bytes, size_t count) {
  // OpenSSL's parameter is not const because the same struct also describes outputs. Inputs are only read.
  return OSSL_PARAM_construct_octet_string(name, (void *)bytes, count);
}

// An empty salt or info is left out: HKDF treats it as absent, and libcrypto refuses some empty octet strings.
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

static inline int whorl_pbkdf2_sha512(
    EVP_KDF *kdf, const void *password, size_t password_count, const void *salt, size_t salt_count, uint64_t rounds,
    unsigned char *out, size_t out_count) {
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
  if (context == NULL) return 0;
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA2-512", 0),
      whorl_octets(OSSL_KDF_PARAM_PASSWORD, password, password_count),
      whorl_octets(OSSL_KDF_PARAM_SALT, salt, salt_count),
      OSSL_PARAM_construct_uint64(OSSL_KDF_PARAM_ITER, &rounds),
      OSSL_PARAM_construct_end(),
  };
  int result = EVP_KDF_derive(context, out, out_count, parameters);
  EVP_KDF_CTX_free(context);
  return result;
}

// `memory` is the most the derivation may allocate, in bytes. libcrypto's default is 32 MiB, too little for N = 2^17.
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

// A context of HMAC with a hash function and without a key. The caller owns it. NULL without that function.
static inline EVP_MAC_CTX *whorl_hmac_context(EVP_MAC *mac, const char *hash) {
  EVP_MAC_CTX *context = EVP_MAC_CTX_new(mac);
  if (context == NULL) return NULL;
  OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, (char *)hash, 0),
      OSSL_PARAM_construct_end(),
  };
  if (EVP_MAC_CTX_set_params(context, parameters) == 1) return context;
  EVP_MAC_CTX_free(context);
  return NULL;
}

// `unkeyed` is a context of whorl_hmac_context, which stays as it is: to look up its hash function takes as long as the MAC.
// `out` holds the `out_count` bytes of a digest.
static inline int whorl_hmac(
    const EVP_MAC_CTX *unkeyed, const void *key, size_t key_count, const void *bytes, size_t count, unsigned char *out,
    size_t out_count) {
  EVP_MAC_CTX *context = EVP_MAC_CTX_dup(unkeyed);
  if (context == NULL) return 0;
  size_t written = 0;
  int result = EVP_MAC_init(context, (const unsigned char *)key, key_count, NULL) == 1 &&
               EVP_MAC_update(context, (const unsigned char *)bytes, count) == 1 &&
               EVP_MAC_final(context, out, &written, out_count) == 1 && written == out_count;
  EVP_MAC_CTX_free(context);
  return result;
}

// The parameters keep pointers to the names, so the names must outlive them. C string literals do; a Swift string does
// not. Takes ownership of `builder`. Returns a key that the caller owns, or NULL.
static inline EVP_PKEY *whorl_key(OSSL_LIB_CTX *library, const char *type, int selection, OSSL_PARAM_BLD *builder) {
  EVP_PKEY *key = NULL;
  OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
  EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(library, type, NULL);
  if (parameters == NULL || context == NULL || EVP_PKEY_fromdata_init(context) != 1 ||
      EVP_PKEY_fromdata(context, &key, selection, parameters) != 1)
    key = NULL;
  EVP_PKEY_CTX_free(context);
  // Wipes values that came from secure BIGNUMs.
  OSSL_PARAM_free(parameters);
  OSSL_PARAM_BLD_free(builder);
  return key;
}

// `scalar` is NULL for a public key.
static inline EVP_PKEY *whorl_ec_key(
    OSSL_LIB_CTX *library, const char *curve, const void *point, size_t point_count, const BIGNUM *scalar) {
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  if (builder == NULL) return NULL;
  if (OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, curve, 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, point_count) != 1 ||
      (scalar != NULL && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, scalar) != 1)) {
    OSSL_PARAM_BLD_free(builder);
    return NULL;
  }
  return whorl_key(library, "EC", scalar == NULL ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR, builder);
}

// The names of the integers of an RSA key, in the order of PKCS #1. The first two form the public key.
static const char *const whorl_rsa_numbers[] = {
    OSSL_PKEY_PARAM_RSA_N,       OSSL_PKEY_PARAM_RSA_E,         OSSL_PKEY_PARAM_RSA_D,
    OSSL_PKEY_PARAM_RSA_FACTOR1, OSSL_PKEY_PARAM_RSA_FACTOR2,   OSSL_PKEY_PARAM_RSA_EXPONENT1,
    OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
};

// `count` is 2 for a public key, 8 for a private one.
static inline EVP_PKEY *whorl_rsa_key(OSSL_LIB_CTX *library, BIGNUM *const *numbers, size_t count) {
  OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
  if (builder == NULL) return NULL;
  for (size_t index = 0; index < count; index++) {
    if (OSSL_PARAM_BLD_push_BN(builder, whorl_rsa_numbers[index], numbers[index]) != 1) {
      OSSL_PARAM_BLD_free(builder);
      return NULL;
    }
  }
  return whorl_key(library, "RSA", count == 2 ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR, builder);
}

// Copies one of the integers of an RSA key, given by its index in PKCS #1, into `number`. The caller keeps `number`.
static inline int whorl_rsa_number(const EVP_PKEY *key, size_t place, BIGNUM *number) {
  return EVP_PKEY_get_bn_param(key, whorl_rsa_numbers[place], &number);
}

// Sets `exponent` to `d` modulo `prime` - 1, which PKCS #1 stores and SSH does not.
static inline int whorl_rsa_exponent(BIGNUM *exponent, const BIGNUM *d, const BIGNUM *prime) {
  BN_CTX *context = BN_CTX_secure_new();
  BIGNUM *modulus = BN_secure_new();
  int result = context != NULL && modulus != NULL && BN_sub(modulus, prime, BN_value_one()) == 1 &&
               BN_mod(exponent, d, modulus, context) == 1;
  BN_clear_free(modulus);
  BN_CTX_free(context);
  return result;
}

// Sets `result` to the power of `base`, or with NULL of 2, in the second Oakley group.
static inline int whorl_oakley2_power(BIGNUM *result, const BIGNUM *base, const BIGNUM *exponent) {
  BN_CTX *context = BN_CTX_secure_new();
  BIGNUM *prime = BN_get_rfc2409_prime_1024(NULL);
  BIGNUM *generator = BN_new();
  int done = context != NULL && prime != NULL && generator != NULL && BN_set_word(generator, 2) == 1 &&
             BN_mod_exp_mont_consttime(result, base != NULL ? base : generator, exponent, prime, context, NULL) == 1;
  BN_free(generator);
  BN_free(prime);
  BN_CTX_free(context);
  return done;
}

// Whether the number lies between 1 and the prime minus 1 of the second Oakley group, both excluded.
static inline int whorl_oakley2_is_public_key(const BIGNUM *number) {
  BIGNUM *last = BN_get_rfc2409_prime_1024(NULL);
  int result = last != NULL && BN_sub_word(last, 1) == 1 && BN_cmp(number, BN_value_one()) > 0 &&
               BN_cmp(number, last) < 0;
  BN_free(last);
  return result;
}

// The key derivation of ANSI X9.63. An empty info is left out, which has the same result.
static inline int whorl_x963(
    EVP_KDF *kdf, const char *hash, const void *secret, size_t secret_count, const void *info, size_t info_count,
    unsigned char *out, size_t out_count) {
  EVP_KDF_CTX *context = EVP_KDF_CTX_new(kdf);
  if (context == NULL) return 0;
  OSSL_PARAM parameters[4], *next = parameters;
  *next++ = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)hash, 0);
  *next++ = whorl_octets(OSSL_KDF_PARAM_KEY, secret, secret_count);
  if (info_count > 0) *next++ = whorl_octets(OSSL_KDF_PARAM_INFO, info, info_count);
  *next = OSSL_PARAM_construct_end();
  int result = EVP_KDF_derive(context, out, out_count, parameters);
  EVP_KDF_CTX_free(context);
  return result;
}
