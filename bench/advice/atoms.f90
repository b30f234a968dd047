! SPDX-License-Identifier: MIT
!
! atoms.f90 - moves atoms. Fault: an atom has 18 numbers, of which a step uses 6. Repaired: these are an array of their own.
program atoms
  implicit none
  type atom
    real(8) :: place(3), speed(3), force(3), old(3), charge, mass, radius, energy, virial, spare
  end type
#ifdef REPAIRED
  type moved
    real(8) :: place(3), speed(3)
  end type
  type(moved), allocatable :: a(:)
#else
  type(atom), allocatable :: a(:)
#endif
  integer :: i, step
  allocate(a(60000))
  do i = 1, size(a)
    a(i)%place = i
    a(i)%speed = 1d0 / i
  end do
  do step = 1, 10
    do i = 1, size(a)
      a(i)%place = a(i)%place + 0.01d0 * a(i)%speed
    end do
  end do
  print *, a(100)%place
end program
