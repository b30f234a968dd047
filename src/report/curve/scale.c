/* SPDX-License-Identifier: MIT */
#include "scale.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

double nm_axis_place(const struct nm_axis *a, double value)
{
	double at = a->logarithmic ? log(fmax(value, a->low) / a->low) / log(a->high / a->low)
				   : (value - a->low) / (a->high - a->low);

	return fmin(1, fmax(0, at));
}

struct nm_axis nm_size_axis(double low, double high, unsigned most)
{
	struct nm_axis a = {.low = low, .high = high, .logarithmic = 1};
	int first = (int)ceil(log2(low)), last = (int)floor(log2(high)), step = 1;

	while ((unsigned)((last - first) / step + 1) > most)
		step++;
	for (int k = first + (step - first % step) % step; k <= last && a.ticks < NM_MAX_TICKS; k += step)
		a.tick[a.ticks++] = exp2(k);
	return a;
}

/* The least of 1, 2 and 5 times a power of ten that is not below the value. */
static double round_up(double value)
{
	static const double slack = 1 - 1e-9;
	const double unit = pow(10, floor(log10(value)));

	for (double factor = 1; factor < 10; factor *= factor == 2 ? 2.5 : 2)
		if (value * slack <= factor * unit)
			return factor * unit;
	return 10 * unit;
}

static struct nm_axis linear_axis(double largest)
{
	enum { PARTS = 4 };
	const double step = round_up(largest / PARTS);
	struct nm_axis a = {.low = 0, .high = step * ceil(largest / step - 1e-9)};

	assert(largest > 0 && lround(a.high / step) < NM_MAX_TICKS);
	for (unsigned i = 0; i <= (unsigned)lround(a.high / step); i++)
		a.tick[a.ticks++] = i * step;
	return a;
}

static struct nm_axis decade_axis(double least, double largest)
{
	static const double smallest = 1e-7;
	struct nm_axis a = {.logarithmic = 1,
			    .low = pow(10, floor(log10(fmax(least, smallest)))),
			    .high = pow(10, ceil(log10(largest) - 1e-9))};

	assert(a.low > 0);
	if (a.low >= a.high)
		a.low = a.high / 10;
	for (double tick = a.low; tick < a.high * 1.5 && a.ticks < NM_MAX_TICKS; tick *= 10)
		a.tick[a.ticks++] = tick;
	return a;
}

struct nm_axis nm_ratio_axis(double least, double largest, int logarithmic)
{
	static const double flat = 1e-6; /* of a program that never misses */

	largest = fmin(1, fmax(largest, flat));
	return logarithmic ? decade_axis(least > 0 ? least : flat, largest) : linear_axis(largest);
}

void nm_size_text(double bytes, char text[NM_TICK_TEXT])
{
	static const char units[] = " KMGTP";
	unsigned unit = 0;
	char suffix[2] = {0};

	while (bytes >= 1024 && units[unit + 1]) {
		bytes /= 1024;
		unit++;
	}
	suffix[0] = units[unit] == ' ' ? 0 : units[unit];
	snprintf(text, NM_TICK_TEXT, "%.*f%s", bytes < 10 && bytes != floor(bytes) ? 1 : 0, bytes, suffix);
}

void nm_percent_text(double ratio, char text[NM_TICK_TEXT])
{
	snprintf(text, NM_TICK_TEXT, "%.3g %%", 100 * ratio);
}
