#pragma once
#include <tss2/tss2_common.h>
#include <tss2/tss2_esys.h>
#include <tss2/tss2_mu.h>
#include <tss2/tss2_tcti.h>
#include <tss2/tss2_tcti_device.h>
#include <tss2/tss2_tcti_swtpm.h>

// A macro that calls through a function pointer, which Swift does not import.
static inline void whorl_tcti_finalize(TSS2_TCTI_CONTEXT *context) { Tss2_Tcti_Finalize(context); }
