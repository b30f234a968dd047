// SPDX-License-Identifier: MIT
//
// helper.cpp - a template that allocates for its callers, as scientific codes have it, and vectors.
#include <cstdio>
#include <cstdlib>
#include <vector>

template <class T> T *create(T *&array, int n) { return array = static_cast<T *>(malloc(n * sizeof(T))); }

struct Atoms {
	double *x, *v, *f;
	int n;

	void grow(int count)
	{
		n = count;
		create(x, n); // @x
		create(v, n); // @v
		create(f, n); // @f
	}
};

int main()
{
	Atoms atoms;
	atoms.grow(1 << 15);
	std::vector<float> weight(1 << 16), height(1 << 16);
	double sum = 0;

	for (int i = 0; i < atoms.n; i++)
		atoms.x[i] = i, atoms.v[i] = 1, atoms.f[i] = 0;
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < atoms.n; i++)
			atoms.f[i] += atoms.x[i] * atoms.v[i];
	for (int i = 0; i < 1 << 16; i++)
		sum += weight[i] + height[i];
	printf("%f %f\n", sum, atoms.f[77]);
}
