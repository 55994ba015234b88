#pragma once
#include <expat.h>
// Not in Swift's module of the C library: the size of a block that is wiped before it is freed.
#include <malloc.h>
