#pragma once
#include <idn2.h>
#include <libpsl.h>
