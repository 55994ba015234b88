#pragma once
#include <sqlite3.h>

// sqlite3_db_config is variadic, which Swift cannot call. Defensive mode keeps SQL from writing the schema table and
// the database file's own structures.
static inline int whorl_sqlite3_set_defensive(sqlite3 *database) {
  return sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}
