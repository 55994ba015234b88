#pragma once
#include <cbor.h>
#include <stdint.h>
#include <stddef.h>

// The head of a CBOR item, as a value.
struct whorl_cbor_head {
  // The major type of the item, or -1 for one that CTAP2 does not use.
  int kind;
  // The number; the length of a string; the number of entries; 20, 21, 22 for false, true, null.
  uint64_t value;
  // The bytes of a string, borrowed from the input.
  const unsigned char *bytes;
};

// libcbor tells what it reads to one of 26 C functions with a context, which in Swift would be as many functions with an
// untyped pointer. Here each fills the value above.
static inline void whorl_cbor_set(void *head, int kind, uint64_t value) {
  ((struct whorl_cbor_head *)head)->kind = kind;
  ((struct whorl_cbor_head *)head)->value = value;
}
static inline void whorl_cbor_u8(void *h, uint8_t n) { whorl_cbor_set(h, 0, n); }
static inline void whorl_cbor_u16(void *h, uint16_t n) { whorl_cbor_set(h, 0, n); }
static inline void whorl_cbor_u32(void *h, uint32_t n) { whorl_cbor_set(h, 0, n); }
static inline void whorl_cbor_u64(void *h, uint64_t n) { whorl_cbor_set(h, 0, n); }
static inline void whorl_cbor_n8(void *h, uint8_t n) { whorl_cbor_set(h, 1, n); }
static inline void whorl_cbor_n16(void *h, uint16_t n) { whorl_cbor_set(h, 1, n); }
static inline void whorl_cbor_n32(void *h, uint32_t n) { whorl_cbor_set(h, 1, n); }
static inline void whorl_cbor_n64(void *h, uint64_t n) { whorl_cbor_set(h, 1, n); }
static inline void whorl_cbor_bytes(void *h, cbor_data bytes, size_t n) {
  whorl_cbor_set(h, 2, n);
  ((struct whorl_cbor_head *)h)->bytes = bytes;
}
static inline void whorl_cbor_text(void *h, cbor_data bytes, size_t n) {
  whorl_cbor_set(h, 3, n);
  ((struct whorl_cbor_head *)h)->bytes = bytes;
}
static inline void whorl_cbor_array(void *h, size_t n) { whorl_cbor_set(h, 4, n); }
static inline void whorl_cbor_map(void *h, size_t n) { whorl_cbor_set(h, 5, n); }
static inline void whorl_cbor_bool(void *h, bool b) { whorl_cbor_set(h, 7, b ? 21 : 20); }
static inline void whorl_cbor_nil(void *h) { whorl_cbor_set(h, 7, 22); }

// Reads one head, with the bytes of a string. Returns its length in the input, or 0 where there is none. The callbacks
// that are left out are libcbor's own, which do nothing: the kind stays -1.
static inline size_t whorl_cbor_read(const unsigned char *bytes, size_t count, struct whorl_cbor_head *head) {
  struct cbor_callbacks callbacks = cbor_empty_callbacks;
  callbacks.uint8 = whorl_cbor_u8;
  callbacks.uint16 = whorl_cbor_u16;
  callbacks.uint32 = whorl_cbor_u32;
  callbacks.uint64 = whorl_cbor_u64;
  callbacks.negint8 = whorl_cbor_n8;
  callbacks.negint16 = whorl_cbor_n16;
  callbacks.negint32 = whorl_cbor_n32;
  callbacks.negint64 = whorl_cbor_n64;
  callbacks.byte_string = whorl_cbor_bytes;
  callbacks.string = whorl_cbor_text;
  callbacks.array_start = whorl_cbor_array;
  callbacks.map_start = whorl_cbor_map;
  callbacks.boolean = whorl_cbor_bool;
  callbacks.null = whorl_cbor_nil;
  head->kind = -1;
  head->value = 0;
  head->bytes = NULL;
  struct cbor_decoder_result result = cbor_stream_decode(bytes, count, &callbacks, head);
  return result.status == CBOR_DECODER_FINISHED ? result.read : 0;
}
