! SPDX-License-Identifier: MIT
!
! spmv.f90 - products of a sparse matrix and a vector. Fault: the unknowns are numbered at random, so that x is read all over.
! Repaired: neighbours have neighbouring numbers.
program spmv
  implicit none
  integer, parameter :: n = 200000, each = 5
  integer, allocatable :: column(:), number(:)
  real(8), allocatable :: a(:), x(:), y(:)
  real(8) :: sum, draw
  integer :: i, k, round, other
  allocate(column(n * each), number(n), a(n * each), x(n), y(n))
  do i = 1, n
    number(i) = i
  end do
#ifndef REPAIRED
  do i = n, 2, -1
    call random_number(draw)
    k = 1 + int(draw * i)
    other = number(i); number(i) = number(k); number(k) = other
  end do
#endif
  do i = 1, n
    do k = 1, each
      column((number(i) - 1) * each + k) = number(1 + modulo(i + k - 3 - 1, n))
    end do
  end do
  a = 0.2d0
  x = 1
  do round = 1, 4
    do i = 1, n
      sum = 0
      do k = 1, each
        sum = sum + a((i - 1) * each + k) * x(column((i - 1) * each + k))
      end do
      y(i) = sum
    end do
    x = y
  end do
  print *, x(1)
end program
