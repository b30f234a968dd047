! SPDX-License-Identifier: MIT
! solver.f90 - solves a dense linear system with LAPACK; the Fortran program of the benchmark.
! The matrix is Hilbert-like plus a strong diagonal, so the solution is well conditioned; the residual
! is printed so that nothing can be left out by the compiler.
program solver
    implicit none
    integer :: n, i, j, info
    character(len=16) :: text
    double precision, allocatable :: a(:, :), b(:), kept(:, :), x(:)
    integer, allocatable :: pivots(:)

    call get_command_argument(1, text)
    read (text, *) n
    allocate (a(n, n), kept(n, n), b(n), x(n), pivots(n))
    do j = 1, n
        do i = 1, n
            a(i, j) = 1d0 / (i + j - 1)
        end do
        a(j, j) = a(j, j) + 2d0
        b(j) = j
    end do
    kept = a
    x = b
    call dgesv(n, 1, a, n, pivots, x, n, info)
    print '(a, i0, a, l1)', 'info ', info, ', residual small ', maxval(abs(matmul(kept, x) - b)) < 1d-6
end program solver
