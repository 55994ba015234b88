// libfprint and GLib in one module, because fprint.h uses GObject types.
#pragma once
#include <glib-unix.h>
#include <libfprint-2/fprint.h>

// G_CALLBACK casts a handler of any signature to the type that g_signal_connect_data takes. This is the signature of
// handlers of `notify`. Swift cannot use the macro.
typedef void (*WhorlNotifyHandler)(GObject *object, GParamSpec *property, gpointer data);
static inline gulong whorl_connect_notify(
    gpointer object, const char *signal, WhorlNotifyHandler handler, gpointer data, GClosureNotify destroy) {
  return g_signal_connect_data(object, signal, G_CALLBACK(handler), data, destroy, (GConnectFlags)0);
}

// GLib 2.90 marks its types of flags as such, and Swift then knows the flags by other names than before.
static inline gboolean whorl_is_fatal(GLogLevelFlags level) {
  return (level & (G_LOG_LEVEL_ERROR | G_LOG_FLAG_FATAL)) != 0;
}
static inline gboolean whorl_is_readable(const GParamSpec *property) { return (property->flags & G_PARAM_READABLE) != 0; }
