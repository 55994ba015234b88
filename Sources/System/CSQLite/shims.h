#pragma once
#include <sqlite3.h>

// sqlite3_db_config is variadic, so Swift cannot call it. Defensive mode prevents SQL statements from writing the
// schema table or otherwise corrupting the database file.
static inline int whorl_sqlite3_set_defensive(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}
