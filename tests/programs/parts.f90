! SPDX-License-Identifier: MIT
! parts.f90 - allocatable arrays of numbers, of a derived type, and in its elements.
program parts
    implicit none
    type row
        real(8), allocatable :: values(:)
        integer :: n
    end type
    type grid
        type(row), pointer :: rows(:)
        real(4), allocatable :: u(:, :)
    end type
    type(row), allocatable :: m(:)
    type(grid) :: g
    real(8), allocatable :: a(:, :)
    integer :: i

    allocate(m(2000))
    do i = 1, 2000
        allocate(m(i)%values(100))
        m(i)%values = i
    end do
    allocate(g%rows(1000), g%u(200, 200), a(300, 300))
    g%u = 1
    a = 2
    g%rows%n = 3
    print *, m(7)%values(3) + sum(g%u) + sum(a) + sum(g%rows%n)
end program parts
