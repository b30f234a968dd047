/* SPDX-License-Identifier: MIT
 *
 * language.c - which languages of DWARF are versions of C, C++ and Fortran.
 */
#include <dwarf.h>

#include "symbol_priv.h"

int is_c(int language)
{
	return language == DW_LANG_C89 || language == DW_LANG_C || language == DW_LANG_C99 ||
	       language == DW_LANG_C11 || language == 0x2c; /* C17, from the list that DWARF 6 extends */
}

int is_cxx(int language)
{
	return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 ||
	       language == DW_LANG_C_plus_plus_11 || language == DW_LANG_C_plus_plus_14 || language == 0x2b ||
	       language == 0x2e; /* C++17, C++20 */
}

int is_fortran(int language)
{
	return language == DW_LANG_Fortran77 || language == DW_LANG_Fortran90 ||
	       language == DW_LANG_Fortran95 || language == DW_LANG_Fortran03 ||
	       language == DW_LANG_Fortran08 || language == 0x2d; /* Fortran 2018 */
}
