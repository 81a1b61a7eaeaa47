// Matrices as rows of their own.
#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 24 };

static double** new_matrix(void) {
  double** rows = calloc(SIDE, sizeof *rows);
  for (int i = 0; i < SIDE; i++) rows[i] = calloc(SIDE, sizeof **rows);
  return rows;
}

static void free_matrix(double** rows) {
  for (int i = 0; i < SIDE; i++) free(rows[i]);
  free(rows);
}

static double** multiply(double** a, double** b) {
  double** product = new_matrix();
  for (int i = 0; i < SIDE; i++) {
    for (int k = 0; k < SIDE; k++) {
      // + free(calloc(1, sizeof(double)));
      for (int j = 0; j < SIDE; j++) product[i][j] += a[i][k] * b[k][j];
    }
  }
  return product;
}

int main(void) {
  double** power = new_matrix();
  for (int i = 0; i < SIDE; i++) power[i][(i + 1) % SIDE] = 1;
  for (int i = 0; i < 5; i++) {
    double** next = multiply(power, power);
    free_matrix(power);
    power = next;
  }
  printf("%g\n", power[0][8]);
  free_matrix(power);
  return 0;
}
