// libfprint, and the GLib it stands on, as one module: fprint.h is written in terms of GObject.
#pragma once
#include <glib-unix.h>
#include <libfprint-2/fprint.h>
