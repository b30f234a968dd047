! SPDX-License-Identifier: MIT
! typed.f90 - a derived type of which two components are used: what a declaration of each looks like.
program typed
    implicit none
    type particle
        real(kind=8) :: place(3)
        real(kind=8) :: speed(3)
        integer(kind=4) :: kind
        character(len=80) :: name
    end type particle
    integer, parameter :: n = 4000
    type(particle), save :: particles(n)
    real(kind=8) :: total
    integer :: i, walk

    total = 0
    read (*, *) particles(1)%name
    do walk = 1, 10
        do i = 1, n
            total = total + particles(i)%place(2) * particles(i)%kind
        end do
    end do
    print *, total
end program typed
