#pragma once
#include <expat.h>
// Not in Swift's module of the C library: the size of a block that is wiped before it is freed.
#include <malloc.h>

// Expat 2.9 deprecates XML_GetCurrentLineNumber for a function that the ones before it do not have.
static inline unsigned long long whorl_expat_line(XML_Parser parser) {
#if XML_MAJOR_VERSION > 2 || (XML_MAJOR_VERSION == 2 && XML_MINOR_VERSION >= 9)
  return XML_GetCurrentLineNumber64(parser);
#else
  return XML_GetCurrentLineNumber(parser);
#endif
}
