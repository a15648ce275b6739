/*
 * simplex.h: climbing over some numbers.
 */
#ifndef DPERM_TEST_SIMPLEX_H
#define DPERM_TEST_SIMPLEX_H

#include <stdbool.h>
#include <string.h>

#define SIMPLEX_MAX 48

/* Climb from a point by Nelder and Mead's simplex; returns the height. */
static inline double
simplex_climb(double (*height_at) (const void *arg, const double *point), const void *arg, double *point, int n, double size,
			  int steps)
{
	double		simplex[SIMPLEX_MAX + 1][SIMPLEX_MAX];
	double		height[SIMPLEX_MAX + 1] = {0};

	for (int i = 0; i <= n; i++)
	{
		memcpy(simplex[i], point, sizeof(double) * n);
		if (i > 0)
			simplex[i][i - 1] += size;
		height[i] = height_at(arg, simplex[i]);
	}
	for (int step = 0; step < steps; step++)
	{
		double		centre[SIMPLEX_MAX] = {0};
		double		trial[SIMPLEX_MAX];
		int			worst = 0,
					best = 0;
		double		found = 0;
		static const double factors[] = {1, 2, 0.5, -0.5};
		bool		better = false;

		for (int i = 1; i <= n; i++)
		{
			worst = height[i] < height[worst] ? i : worst;
			best = height[i] > height[best] ? i : best;
		}
		for (int i = 0; i <= n; i++)
			for (int j = 0; i != worst && j < n; j++)
				centre[j] += simplex[i][j] / n;
		for (int k = 0; k < 4 && !better; k++)
		{
			for (int j = 0; j < n; j++)
				trial[j] = centre[j] + factors[k] * (centre[j] - simplex[worst][j]);
			found = height_at(arg, trial);
			better = found > height[worst];
		}
		if (better)
		{
			memcpy(simplex[worst], trial, sizeof(double) * n);
			height[worst] = found;
			continue;
		}
		for (int i = 0; i <= n; i++)
			if (i != best)
			{
				for (int j = 0; j < n; j++)
					simplex[i][j] = (simplex[i][j] + simplex[best][j]) / 2;
				height[i] = height_at(arg, simplex[i]);
			}
	}
	for (int i = 1; i <= n; i++)
		if (height[i] > height[0])
		{
			height[0] = height[i];
			memcpy(simplex[0], simplex[i], sizeof(double) * n);
		}
	memcpy(point, simplex[0], sizeof(double) * n);
	return height[0];
}

#endif							/* DPERM_TEST_SIMPLEX_H */
