#pragma once

// The settings of a terminal while a program reads single keys from it. In C, because part of it runs in signal handlers,
// and nothing in Swift is promised to be safe there.

/// Turns off echo and line mode (ECHO, ICANON) on a terminal, and drops nothing of what was typed. From now on a signal
/// that ends or stops the process puts the terminal back first, and so does `exit`. Waits, stopped as any program that
/// writes terminal settings from the background, until the process is in the foreground.
/// Returns 0, or the errno of what failed; nothing is changed then. Calls do not nest.
int terminal_guard_begin(int descriptor);

/// Puts the terminal and the signal handlers back.
void terminal_guard_end(void);

/// Puts the terminal back until `terminal_guard_resume`: for a program that takes SIGTSTP itself and is about to stop.
void terminal_guard_pause(void);

/// Turns echo and line mode off again after `terminal_guard_pause`.
void terminal_guard_resume(void);

/// Turns echo and line mode off again after the process was in the background. Does nothing there, while paused, or where
/// they are off.
void terminal_guard_refresh(void);
