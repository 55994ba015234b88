#pragma once
// Nothing is called: the program is only linked with the data.
