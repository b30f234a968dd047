/* Shorter than the source of the stored profile's program. */
int nothing;
