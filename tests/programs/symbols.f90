! SPDX-License-Identifier: MIT
!
! symbols.f90 - COMMON blocks, module variables and SAVE variables for the symbol room to find.
! Two program units name the members of one block differently: the first one in the file wins.
module grid
  implicit none
  type particle
    real(8) :: place(3)
    integer :: number
  end type
  real(4), dimension(100, 100) :: field
  real(8), allocatable :: heat(:, :)
  type(particle) :: swarm(50)
end module

subroutine sweep(n)
  use grid
  implicit none
  integer n, i
  integer, save :: calls = 0
  real(8) a, b
  common /field/ a(100, 20), b(0:9)
  calls = calls + 1
  do i = 1, n
    a(i, 1) = a(i, 2) + b(1)
    field(i, i) = field(i, i) + calls
  end do
end subroutine

subroutine other(n)
  implicit none
  integer n, z
  real(8) c(100, 20), d(10)
  common /field/ c, d
  common z(7)
  c(n, n) = 1
  d(1) = 2
  z(1) = n
end subroutine

program main
  use grid
  implicit none
  allocate (heat(10, 10))
  heat = 1
  swarm(1)%number = 3
  call sweep(5)
  call other(3)
  print *, field(1, 1), heat(1, 1), swarm(1)%number
end program
