/* SPDX-License-Identifier: MIT
 *
 * breaks.h - plants a fault in a structure, which what validates it must see.
 */
#ifndef NM_TEST_BREAKS_H
#define NM_TEST_BREAKS_H

/* Gives a place a value, with which `valid` must be false, and then its own again. */
#define BREAKS(valid, place, value)                                            \
	do {                                                                   \
		const __typeof__(place) kept = (place);                        \
		(place) = (__typeof__(place))(value);                          \
		assert_true((place) != kept);                                  \
		if (valid)                                                     \
			fail_msg("line %d: " #place " is not seen", __LINE__); \
		(place) = kept;                                                \
		assert_true(valid);                                            \
	} while (0)

#endif
