! SPDX-License-Identifier: MIT
! common.f90 - Fortran data: a COMMON block, a module's arrays, an allocatable and a SAVE variable.
! Each array has 131,072 doubles, 16,384 lines of 64 bytes, and is read once along the lines;
! `density` is read a second time across them.
module fields
    implicit none
    integer, parameter :: n = 512, m = 256
    double precision :: density(n, m)
    double precision, allocatable :: velocity(:, :)
end module fields

subroutine advance(total)
    use fields
    implicit none
    double precision, intent(inout) :: total
    double precision :: pressure(n, m), energy(n, m)
    common /state/ pressure, energy
    integer :: i, j

    do j = 1, m
        do i = 1, n
            total = total + pressure(i, j) ! @pressure
        end do
    end do
    do j = 1, m
        do i = 1, n
            energy(i, j) = total ! @energy
        end do
    end do
    do i = 1, n
        do j = 1, m
            total = total + density(i, j) ! @density
        end do
    end do
    do j = 1, m
        do i = 1, n
            total = total + velocity(i, j) ! @velocity
        end do
    end do
end subroutine advance

program common
    use fields
    implicit none
    double precision :: total = 0d0

    allocate (velocity(n, m)) ! @allocate
    velocity = 1d0
    density = 1d0
    call advance(total)
    print '(f12.1)', total
end program common
