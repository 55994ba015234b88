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
