// Profiles itself by SIGPROF, and handles SIGURG where an argument asks for it. Prints what it saw.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "burn.h"

static volatile sig_atomic_t ticks, urgent, strangers;

static void on_profile(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  ticks++;
  if (info->si_code == SI_TIMER) strangers++;
}

static void on_urgent(int signal, siginfo_t *info, void *context) {
  (void)signal, (void)context;
  if (info->si_code == SI_TIMER)
    strangers++;
  else
    urgent++;
}

int main(int count, char **arguments) {
  (void)arguments;
  free(malloc(10));
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
  action.sa_sigaction = on_profile;
  sigaction(SIGPROF, &action, NULL);
  action.sa_sigaction = on_urgent;
  if (count > 1) sigaction(SIGURG, &action, NULL);
  const struct itimerval interval = {{0, 10000}, {0, 10000}};
  setitimer(ITIMER_PROF, &interval, NULL);
  for (int i = 0; i < 10; i++) {
    kill(getpid(), SIGURG);
    burn(40);
  }
  const int most = ticks;
  // On a busy machine the clock may tick mostly in the turns of others.
  for (int i = 0; i < 1000 && (ticks < 5 || (count > 1 && strangers == 0)); i++) burn(10);
  const struct itimerval never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_PROF, &never, NULL);
  printf("%s ticks, %d urgent, %s strangers\n", ticks >= 5 && most <= 60 ? "right" : "wrong", (int)urgent,
         strangers == 0   ? "no"
         : strangers == 1 ? "one"
                          : "many");
  return 0;
}
