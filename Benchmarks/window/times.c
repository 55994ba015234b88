// Preloaded into a GTK program by Benchmarks/window.py. Prints lines such as "first 123.4", in milliseconds since START:
// first     the first frame that was drawn
// list      the first frame after the window has shown its open store
// memory    the proportional memory three seconds later, in KiB
// first-cpu, list-cpu  the processor time of the program until then, which other programs change less
// search    what a search took after a change of its entry, until the list is set; search-cpu: the processor time of it
// frame     the same, until the next frame is drawn
// Then the program ends.
#define _GNU_SOURCE
#include <adwaita.h>
#include <dlfcn.h>
#include <string.h>
#include <time.h>

// A person who types and deletes, with names that Benchmarks/window.py gives to the items.
static const char *const searches[] = {"s", "si", "site1", "site12", "site1", "user", "user99", "", "nothing", ""};

static GtkWindow *window;
static const char *awaited;
static double searched, searched_cpu;
static unsigned done;

static double milliseconds(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return time.tv_sec * 1e3 + time.tv_nsec / 1e6;
}

static double now(void)
{
	return milliseconds(CLOCK_MONOTONIC);
}

static void print(const char *name, double value)
{
	g_print("%s %.3f\n", name, value);
}

static void print_memory(void)
{
	char *text = NULL;
	if (g_file_get_contents("/proc/self/smaps_rollup", &text, NULL, NULL)) {
		char *line = strstr(text, "\nPss:");
		print("memory", line ? g_ascii_strtod(line + strlen("\nPss:"), NULL) : 0);
	}
	g_free(text);
}

static GtkWidget *entry_below(GtkWidget *widget)
{
	if (GTK_IS_SEARCH_ENTRY(widget) && gtk_widget_get_mapped(widget))
		return widget;
	for (GtkWidget *child = gtk_widget_get_first_child(widget); child; child = gtk_widget_get_next_sibling(child)) {
		GtkWidget *found = entry_below(child);
		if (found)
			return found;
	}
	return NULL;
}

static gboolean search(gpointer unused)
{
	(void)unused;
	GtkWidget *entry = done < G_N_ELEMENTS(searches) ? entry_below(GTK_WIDGET(window)) : NULL;
	if (!entry) {
		gtk_window_destroy(window);
		return G_SOURCE_REMOVE;
	}
	gtk_editable_set_text(GTK_EDITABLE(entry), searches[done++]);
	searched = now();
	searched_cpu = milliseconds(CLOCK_THREAD_CPUTIME_ID);
	g_signal_emit_by_name(entry, "search-changed");
	print("search", now() - searched);
	print("search-cpu", milliseconds(CLOCK_THREAD_CPUTIME_ID) - searched_cpu);
	awaited = "frame";
	return G_SOURCE_CONTINUE;
}

static gboolean rest(gpointer unused)
{
	(void)unused;
	print_memory();
	g_timeout_add(500, search, NULL);
	return G_SOURCE_REMOVE;
}

static gboolean drawn;

// A hook, since GTK's own handler lets no further one be called.
static gboolean render(GSignalInvocationHint *hint, guint count, const GValue *values, gpointer unused)
{
	(void)hint, (void)count, (void)values, (void)unused;
	drawn = TRUE;
	return TRUE;
}

static void after_paint(void)
{
	if (!drawn)
		return;
	drawn = FALSE;
	if (!awaited)
		return;
	const char *name = awaited;
	awaited = NULL;
	if (!strcmp(name, "frame")) {
		print(name, now() - searched);
		return;
	}
	print(name, now() - g_ascii_strtod(g_getenv("START"), NULL));
	print(!strcmp(name, "first") ? "first-cpu" : "list-cpu", milliseconds(CLOCK_PROCESS_CPUTIME_ID));
	if (!strcmp(name, g_getenv("LAST")))
		g_timeout_add_seconds(3, rest, NULL);
}

// The stack of the window's states, one of which is "open".
static GtkWidget *states_below(GtkWidget *widget)
{
	if (GTK_IS_STACK(widget) && gtk_stack_get_child_by_name(GTK_STACK(widget), "open"))
		return widget;
	for (GtkWidget *child = gtk_widget_get_first_child(widget); child; child = gtk_widget_get_next_sibling(child)) {
		GtkWidget *found = states_below(child);
		if (found)
			return found;
	}
	return NULL;
}

static void state_changed(GtkStack *stack)
{
	if (!g_strcmp0(gtk_stack_get_visible_child_name(stack), "open"))
		awaited = "list";
}

void gtk_window_present(GtkWindow *self)
{
	void (*next)(GtkWindow *) = (void (*)(GtkWindow *))dlsym(RTLD_NEXT, "gtk_window_present");
	if (window) {
		next(self);
		return;
	}
	window = self;
	awaited = "first";
	gtk_widget_realize(GTK_WIDGET(self));
	g_signal_add_emission_hook(g_signal_lookup("render", GDK_TYPE_SURFACE), 0, render, NULL, NULL);
	GtkWidget *states = states_below(GTK_WIDGET(self));
	if (states)
		g_signal_connect(states, "notify::visible-child-name", G_CALLBACK(state_changed), NULL);
	next(self);
	GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(self));
	g_signal_connect(gdk_surface_get_frame_clock(surface), "after-paint", G_CALLBACK(after_paint), NULL);
}
