// libfprint, and the GLib it stands on, as one module: fprint.h is written in terms of GObject.
#pragma once
#include <glib-unix.h>
#include <libfprint-2/fprint.h>

// G_CALLBACK casts a handler of any signature to the one g_signal_connect_data takes; `notify` handlers have this one.
typedef void (*WhorlNotifyHandler)(GObject *object, GParamSpec *property, gpointer data);
static inline gulong whorl_connect_notify(
    gpointer object, const char *signal, WhorlNotifyHandler handler, gpointer data, GClosureNotify destroy) {
  return g_signal_connect_data(object, signal, G_CALLBACK(handler), data, destroy, (GConnectFlags)0);
}
