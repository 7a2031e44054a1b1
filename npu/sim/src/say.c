// say.c: one line on stderr, written at once so that lines of threads do not mix.
#include "sim.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void say(const char *format, ...)
{
	char line[512] = "neuronsim: ";
	int start = 11, room = (int)sizeof line - start - 1;
	va_list ap;
	va_start(ap, format);
	int n = vsnprintf(line + start, (size_t)room, format, ap);
	va_end(ap);
	n = n < 0 ? 0 : n >= room ? room - 1 : n;
	line[start + n] = '\n';
	if (write(2, line, (size_t)(start + n + 1)) < 0)
		return; // nobody to tell
}
