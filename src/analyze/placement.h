/* SPDX-License-Identifier: MIT
 *
 * placement.h - on which of two processors the decoder, the modeller and the program run.
 *
 * Left alone, Linux often has decoder and modeller on one processor, in turns, while the program under its collector keeps
 * the other busy.  Bound apart, each with its share of the program's time, they overlap.  (Where what they hand over lay in
 * lines that both wrote and read, that paid only where the decoder had more to do than the modeller; since it is copied past
 * the caches, with gzip, bzip2, zstd and xz too.)
 *
 * The program goes on with the decoder, through whose caches its stream passes then, or, where the decoder has an eighth
 * more to do than the modeller and the two would wait for one processor, with the modeller; it copies its stream past the
 * caches, then (the desk of nearmiss/wire.h).  It is not bound, since it would see that: it is put there when it wakes
 * (wire/consumer.h).  Recordings, interleaved: jq, mawk and troff 11 %, perl 7 % faster, with the same CPU time.
 * Stores into chunks that the other processor has read, instead, made it half as slow again; moved to and fro by how full
 * the queue of batches is, it lost what it had in its cache, and copying all of the time did not make up for that.
 * The program alone, decoder and modeller together, where it has as much to do as both: cc1 2 % and python3 4 % faster, perl
 * 1 % slower, and 2 to 3 % more CPU time.  Both as one thread, which hands nothing
 * over, and the program alone, at its desk: of the 13 programs of bench/ CPU time 0 (troff, gzip, mawk) to 11 % (jq) less,
 * median 3 %, but the time of all but the solver 2 (cc1, python3) to 33 % (troff) longer, median 14 %.
 *
 * What is bound belongs to the thread that decodes, whatever it decodes for: a thread inherits what its maker is bound
 * to, so nothing is bound while a modeller is made, nor with more than one, when the decoder's time is not for one of them
 * alone.
 */
#ifndef NM_PLACEMENT_H
#define NM_PLACEMENT_H

#include <pthread.h>

/* All by the decoder: before a modeller is made; when it is there, and now and then while it works, since others come and
 * go; when it has ended. */
void nm_placement_enter(void);
void nm_placement_review(pthread_t modeller);
void nm_placement_leave(void);

/* Where what feeds this decoder had best go on: with the decoder, through whose cache its stream passes then; or with the
 * modeller, where the decoder has more to do than that and would wait for the processor.  -1: nothing is bound. */
int nm_placement_of_feeder(int *ret_apart);

#endif
