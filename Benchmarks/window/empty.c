// An empty libadwaita window: the floor for Benchmarks/window.py.
#include <adwaita.h>

static void activate(GtkApplication *application)
{
	GtkWidget *window = adw_application_window_new(application);
	gtk_window_set_default_size(GTK_WINDOW(window), 900, 640);
	gtk_window_present(GTK_WINDOW(window));
}

int main(int argc, char **argv)
{
	AdwApplication *application = adw_application_new("org.example.Empty", G_APPLICATION_NON_UNIQUE);
	g_signal_connect(application, "activate", G_CALLBACK(activate), NULL);
	return g_application_run(G_APPLICATION(application), argc, argv);
}
