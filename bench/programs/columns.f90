! SPDX-License-Identifier: MIT
! columns.f90 - walks over arrays against the order in which Fortran stores them: row by row, a column apart.
! A relaxation whose inner loop runs over the second index, a transposition, and Gram-Schmidt over rows.
! Arguments: side of the arrays, sweeps.
program columns
    implicit none
    integer :: n, sweeps, sweep, side
    double precision, allocatable :: a(:, :), b(:, :)

    n = number_argument(1)
    sweeps = number_argument(2)
    allocate (a(n, n), b(n, n))
    call fill(a)
    b = a
    do sweep = 1, sweeps
        call relax(a, b)
        call transpose_into(b, a)
    end do
    side = min(n, 96)
    call orthogonalize(a, side)
    print '(es16.8, es16.8)', sum(a(:, n/2)), sum(b(n/3, :))

contains

    integer function number_argument(i)
        integer, intent(in) :: i
        character(len=16) :: text

        call get_command_argument(i, text)
        read (text, *) number_argument
    end function number_argument

    subroutine fill(x)
        double precision, intent(out) :: x(:, :)
        integer :: i, j

        do i = 1, size(x, 1)
            do j = 1, size(x, 2)
                x(i, j) = mod(i*7 + j*13, 101) + 1d0/(i + j)
            end do
        end do
    end subroutine fill

    subroutine relax(from, to)
        double precision, intent(in) :: from(:, :)
        double precision, intent(inout) :: to(:, :)
        integer :: i, j

        do i = 2, size(from, 1) - 1
            do j = 2, size(from, 2) - 1
                to(i, j) = 0.5d0*from(i, j) + 0.125d0*(from(i, j - 1) + from(i, j + 1) + from(i - 1, j) + from(i + 1, j))
            end do
        end do
    end subroutine relax

    subroutine transpose_into(from, to)
        double precision, intent(in) :: from(:, :)
        double precision, intent(inout) :: to(:, :)
        integer :: i, j

        do j = 1, size(from, 2)
            do i = 1, size(from, 1)
                to(j, i) = from(i, j)
            end do
        end do
    end subroutine transpose_into

    ! Rows 1 to `rows` become orthogonal to each other.
    subroutine orthogonalize(x, rows)
        double precision, intent(inout) :: x(:, :)
        integer, intent(in) :: rows
        double precision :: length, share
        integer :: i, j, k

        do i = 1, rows
            length = 0d0
            do k = 1, size(x, 2)
                length = length + x(i, k)**2
            end do
            do j = i + 1, min(rows, i + 8)
                share = 0d0
                do k = 1, size(x, 2)
                    share = share + x(i, k)*x(j, k)
                end do
                do k = 1, size(x, 2)
                    x(j, k) = x(j, k) - share/length*x(i, k)
                end do
            end do
        end do
    end subroutine orthogonalize
end program columns
