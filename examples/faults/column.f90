! SPDX-License-Identifier: MIT
!
! column.f90 - the inner loop runs along the second subscript, and so steps a column's length at a time.
! REPAIRED: the loops are interchanged.
program column
  implicit none
  integer, parameter :: m = 150, n = 20000
  real(8), save :: field(m, n)
  integer :: i, j, round, rounds
  character(12) :: argument

  rounds = 2
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) rounds
  end if
  field = 1
  do round = 1, rounds
#ifdef REPAIRED
    do j = 1, n
      do i = 1, m
#else
    do i = 1, m
      do j = 1, n
#endif
        field(i, j) = field(i, j) * 0.5d0 + round
      end do
    end do
  end do
  print *, field(1, 1), field(m, n)
end program column
