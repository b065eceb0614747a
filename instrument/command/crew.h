/* Several threads that work through a plan; what they made is told in the plan's order. */
#ifndef MONITORCH_INSTRUMENT_COMMAND_CREW_H
#define MONITORCH_INSTRUMENT_COMMAND_CREW_H

#include "instrument/command/console.h"
#include "instrument/command/options.h"
#include "instrument/command/plan.h"

/* Returns when every item has been told to the console. */
void crew_run(const struct plan *plan,
              const struct options *options,
              struct console *console);

#endif
