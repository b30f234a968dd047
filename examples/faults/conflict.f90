! SPDX-License-Identifier: MIT
!
! conflict.f90 - arrays of a COMMON block that are multiples of 64K apart, of which a half is used: equal elements of
! all arrays go to the same set of the first level and of the second, which have fewer ways.
! REPAIRED: each array is one line longer.
program conflict
  implicit none
#ifdef REPAIRED
  integer, parameter :: room = 8192 + 8
#else
  integer, parameter :: room = 8192
#endif
  integer, parameter :: n = 4096
  real(8) :: u(room), v(room), w(room), p(room), q(room), r(room), s(room), t(room), x(room), y(room), z(room), e(room)
  common /fields/ u, v, w, p, q, r, s, t, x, y, z, e
  integer :: i, round, rounds
  character(12) :: argument

  rounds = 40
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read (argument, *) rounds
  end if
  u = 1; v = 2; w = 3; p = 4; q = 5; r = 6; s = 7; t = 8; x = 9; y = 10; z = 11
  do round = 1, rounds
    do i = 1, n
      e(i) = u(i) + v(i) * w(i) + p(i) * q(i) + r(i) * s(i) + t(i) * x(i) + y(i) * z(i) + round
    end do
  end do
  print *, e(1), e(n)
end program conflict
