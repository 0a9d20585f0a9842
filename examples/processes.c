// SPDX-License-Identifier: MIT
// Processes without MPI: chasqui launch -n 3 ./processes
#include <chasqui/chasqui.h>
#include <stdio.h>

int main(void) {
  chasqui_comm* comm;
  float mean[2];
  if (chasqui_join(NULL, &comm) != 0) {
    fprintf(stderr, "%s\n", chasqui_last_error());
    return 1;
  }
  mean[0] = (float)chasqui_comm_rank(comm);
  mean[1] = 10;
  if (chasqui_allreduce(comm, NULL, mean, 2, CHASQUI_F32, CHASQUI_AVERAGE, NULL) != 0) {
    fprintf(stderr, "%s\n", chasqui_last_error());
    return 1;
  }
  if (chasqui_comm_rank(comm) == 0) printf("%d ranks, mean %g and %g\n", chasqui_comm_size(comm), mean[0], mean[1]);
  return chasqui_comm_free(comm) == 0 ? 0 : 1;
}
