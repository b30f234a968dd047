/* SPDX-License-Identifier: MIT
 *
 * client.h - annotations that a program may carry for nearmiss.
 *
 *     NEARMISS_NAME(p, n * sizeof *p, "particles");        reports show the block or range under this name
 *     NEARMISS_UNNAME(p);                                  ... and under its own name again
 *     NEARMISS_MEASURE_OFF(); ... NEARMISS_MEASURE_ON();   do not count what runs in between
 *     NEARMISS_REGION_BEGIN("forces"); ... NEARMISS_REGION_END("forces");
 *     NEARMISS_MARK("warm");                               --from mark:warm counts from here on
 *     if (NEARMISS_RUNNING()) ...
 *
 * While measuring is off, caches are simulated as ever, but nothing is counted: data that is read meanwhile
 * is in the cache afterwards, and lines that it evicts are reported as evicted by "<not measured>".
 *
 * What a thread does between NEARMISS_REGION_BEGIN and NEARMISS_REGION_END is also counted as that region's
 * (nearmiss report --by region). Regions may be nested, "step/forces"; threads start outside of all. A mark is a
 * region with nothing in it.
 *
 * Nothing has to be linked. Outside nearmiss an annotation costs a few instructions without effect: four
 * rotations of a register that together are a full turn, and an exchange of a register with itself. No
 * compiler emits this sequence, and Valgrind takes it as a request to the tool. On processors other than
 * x86-64 annotations are empty. Define NEARMISS_DISABLE to remove them.
 */
#ifndef NEARMISS_CLIENT_H
#define NEARMISS_CLIENT_H

#define NEARMISS_REQUEST_BASE 0x4e4d0000ul /* the letters NM in the upper half */

enum nearmiss_request {
	NEARMISS_REQUEST_RUNNING = 0,
	NEARMISS_REQUEST_NAME = 1,   /* address, bytes, name */
	NEARMISS_REQUEST_UNNAME = 2, /* address */
	NEARMISS_REQUEST_REGION = 3, /* 1 begin, 0 end; name */
	NEARMISS_REQUEST_MEASURE = 4 /* 1 on, 0 off */
};

#if defined(__x86_64__) && !defined(NEARMISS_DISABLE)
static inline unsigned long nearmiss_request(enum nearmiss_request request, unsigned long first,
					     unsigned long second, unsigned long third)
{
	volatile unsigned long block[6];
	unsigned long result = 0;

	block[0] = NEARMISS_REQUEST_BASE + (unsigned long)request;
	block[1] = first;
	block[2] = second;
	block[3] = third;
	block[4] = block[5] = 0;
	__asm__ volatile("rolq $3, %%rdi\n\trolq $13, %%rdi\n\trolq $61, %%rdi\n\trolq $51, %%rdi\n\t"
			 "xchgq %%rbx, %%rbx"
			 : "+d"(result)
			 : "a"(block)
			 : "cc", "memory");
	return result;
}
#else
static inline unsigned long nearmiss_request(enum nearmiss_request request, unsigned long first,
					     unsigned long second, unsigned long third)
{
	(void)request;
	(void)first;
	(void)second;
	(void)third;
	return 0;
}
#endif

#define NEARMISS_RUNNING() ((int)nearmiss_request(NEARMISS_REQUEST_RUNNING, 0, 0, 0))
#define NEARMISS_NAME(pointer, bytes, name)                                                              \
	((void)nearmiss_request(NEARMISS_REQUEST_NAME, (unsigned long)(pointer), (unsigned long)(bytes), \
				(unsigned long)(name)))
#define NEARMISS_UNNAME(pointer) \
	((void)nearmiss_request(NEARMISS_REQUEST_UNNAME, (unsigned long)(pointer), 0, 0))
#define NEARMISS_REGION_BEGIN(name) \
	((void)nearmiss_request(NEARMISS_REQUEST_REGION, 1, (unsigned long)(name), 0))
#define NEARMISS_REGION_END(name) \
	((void)nearmiss_request(NEARMISS_REQUEST_REGION, 0, (unsigned long)(name), 0))
#define NEARMISS_MARK(name) (NEARMISS_REGION_BEGIN(name), NEARMISS_REGION_END(name))
#define NEARMISS_MEASURE_ON() ((void)nearmiss_request(NEARMISS_REQUEST_MEASURE, 1, 0, 0))
#define NEARMISS_MEASURE_OFF() ((void)nearmiss_request(NEARMISS_REQUEST_MEASURE, 0, 0, 0))

#endif
