// Newer calls than those of Debian 12 (GTK 4.8, libadwaita 1.2) are not declared, and what newer versions call obsolete is.
#define GDK_VERSION_MIN_REQUIRED GDK_VERSION_4_8
#define GDK_VERSION_MAX_ALLOWED GDK_VERSION_4_8
#define ADW_VERSION_MIN_REQUIRED ADW_VERSION_1_2
#define ADW_VERSION_MAX_ALLOWED ADW_VERSION_1_2
#include <adwaita.h>
#include <glib-unix.h>
// malloc_trim: in no module.
#include <malloc.h>

// libdispatch declares these for run loops other than its own in a header that Swift's toolchain does not install. Core
// Foundation uses them on Linux in the same way.
int _dispatch_get_main_queue_handle_4CF(void);
void _dispatch_main_queue_callback_4CF(void *message);

// G_CALLBACK casts a handler of any signature. With G_CONNECT_SWAPPED a handler gets its data first, so that this one serves
// every signal whose other arguments are not needed. The answer counts only for signals that return a Boolean.
typedef gboolean (*WhorlHandler)(gpointer data);
static inline gulong whorl_connect(
    gpointer object, const char *signal, WhorlHandler handler, gpointer data, GClosureNotify destroy) {
  return g_signal_connect_data(object, signal, G_CALLBACK(handler), data, destroy, G_CONNECT_SWAPPED);
}
// The same for signals with one argument, a GObject or a GVariant, which the handler gets.
typedef void (*WhorlArgumentHandler)(gpointer object, gpointer argument, gpointer data);
static inline gulong whorl_connect_argument(
    gpointer object, const char *signal, WhorlArgumentHandler handler, gpointer data, GClosureNotify destroy) {
  return g_signal_connect_data(object, signal, G_CALLBACK(handler), data, destroy, (GConnectFlags)0);
}
// The same for signals with a number, such as a position.
typedef void (*WhorlNumberHandler)(gpointer object, guint number, gpointer data);
static inline gulong whorl_connect_number(
    gpointer object, const char *signal, WhorlNumberHandler handler, gpointer data, GClosureNotify destroy) {
  return g_signal_connect_data(object, signal, G_CALLBACK(handler), data, destroy, (GConnectFlags)0);
}

// The same for what is dropped onto a widget (GtkDropTarget), with the value and its place.
typedef gboolean (*WhorlDropHandler)(gpointer object, const GValue *value, double x, double y, gpointer data);
static inline gulong whorl_connect_drop(
    gpointer object, WhorlDropHandler handler, gpointer data, GClosureNotify destroy) {
  return g_signal_connect_data(object, "drop", G_CALLBACK(handler), data, destroy, (GConnectFlags)0);
}

// g_object_set and g_object_get take any number of arguments, which Swift cannot call.
static inline void whorl_set_string(gpointer object, const char *property, const char *value) {
  g_object_set(object, property, value, NULL);
}
static inline void whorl_set_bool(gpointer object, const char *property, gboolean value) {
  g_object_set(object, property, value, NULL);
}
static inline void whorl_set_uint(gpointer object, const char *property, guint value) {
  g_object_set(object, property, value, NULL);
}
static inline void whorl_set_object(gpointer object, const char *property, gpointer value) {
  g_object_set(object, property, value, NULL);
}
static inline gboolean whorl_get_bool(gpointer object, const char *property) {
  gboolean value = FALSE;
  g_object_get(object, property, &value, NULL);
  return value;
}
static inline guint whorl_get_uint(gpointer object, const char *property) {
  guint value = 0;
  g_object_get(object, property, &value, NULL);
  return value;
}
// The text is the caller's, who frees it.
static inline char *whorl_get_string(gpointer object, const char *property) {
  char *value = NULL;
  g_object_get(object, property, &value, NULL);
  return value;
}
// gtk_accessible_update_property takes any number of arguments. The name is what a screen reader says. Newer versions of GTK
// name a button after its label, which would be said in place of the name.
static inline void whorl_set_accessible_name(gpointer widget, const char *name) {
  gtk_accessible_reset_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY);
  gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}
// GLib 2.90 marks its flags as such, and Swift then gives them other names.
static const GSignalMatchType whorl_match_id = G_SIGNAL_MATCH_ID;
static const GSignalMatchType whorl_match_func = G_SIGNAL_MATCH_FUNC;
static const GApplicationFlags whorl_application_default = G_APPLICATION_DEFAULT_FLAGS;
static const GApplicationFlags whorl_application_is_service = G_APPLICATION_IS_SERVICE;
static const GApplicationFlags whorl_application_non_unique = G_APPLICATION_NON_UNIQUE;
