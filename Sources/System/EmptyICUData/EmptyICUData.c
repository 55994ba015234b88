// ICU's data, with no entry in it. GRDB imports Foundation, whose ICU has 34 MB of data for languages and calendars, of which
// the vault uses nothing. A release build links Swift's libraries statically, and takes this in place of that data: the
// linker looks for a symbol in an archive only if no object file has it. A call of ICU that needs data then fails, as it does
// with the "stubdata" library of ICU itself. Debug builds link Foundation as a shared library, and are unchanged.
#include "EmptyICUData.h"

#ifdef RELEASE
#include <stdint.h>

// `DataHeader` and `UDataInfo` of ICU (unicode/udata.h, ucmndata.h), and a table of contents with a count of 0.
typedef struct {
  uint16_t header_size;
  uint8_t magic[2];
  uint16_t info_size, reserved_word;
  uint8_t is_big_endian, character_set, size_of_uchar, reserved_byte;
  uint8_t format[4], format_version[4], data_version[4];
  uint8_t padding[8];
  uint32_t count, reserved;
} empty_icu_data;

#define EMPTY_ICU_DATA(version)                                          \
  extern const empty_icu_data icudt##version##_dat;                      \
  const empty_icu_data icudt##version##_dat __attribute__((weak)) = {    \
      .header_size = 32,                                                 \
      .magic = {0xda, 0x27},                                             \
      .info_size = 20,                                                   \
      .is_big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__,           \
      .size_of_uchar = 2,                                                \
      .format = {'C', 'm', 'n', 'D'},                                    \
      .format_version = {1},                                             \
  };

// The symbol has ICU's version in it: 72 and 74 in Swift 6.0 to 6.2, 76 in 6.3.
EMPTY_ICU_DATA(72)
EMPTY_ICU_DATA(74)
EMPTY_ICU_DATA(76)
EMPTY_ICU_DATA(77)
EMPTY_ICU_DATA(78)
EMPTY_ICU_DATA(80)
#endif
