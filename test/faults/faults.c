// faults LIBRARY OPTIONS WORK_FOLDER INPUT SECONDS PROGRAM [ARGUMENT...]: runs the program with its k-th own system call
// for memory refused, for k = 1, 2, 3, ... until a run needs no more; then again with a shortage from there on, of
// as many calls as no program makes that goes on (a process that has memory enough may try again at every malloc, so
// there is an end to it). Prints one line, the cells of a table:
//
//   calls of a clean run | runs | went on | gave up itself | broke in its own code | our fault
//
// "Went on": it ended as the clean run did, with the same output. "Gave up": it ended otherwise, by its own exit or
// abort. Our fault, and status 1: a fault in libmallow's code, a sentence of libmallow's, other output without an error,
// or a hang. EVERY=n in the environment takes only each n-th k.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "refuse.h"

enum { kMostCalls = 2000, kShortage = 1000 };

struct Files {
  char clean[4096], output[4096], errors[4096];
};

struct Count {
  int runs, went_on, gave_up, broke, ours;
};

static int SameContent(const char* a, const char* b) {
  FILE* left = fopen(a, "r");
  FILE* right = fopen(b, "r");
  int same = left != NULL && right != NULL;
  for (int c = 0; same && c != EOF;) same = (c = getc(left)) == getc(right);
  if (left != NULL) fclose(left);
  if (right != NULL) fclose(right);
  return same;
}

static int Contains(const char* path, const char* text) {
  static char content[1 << 16];
  FILE* file = fopen(path, "r");
  if (file == NULL) return 0;
  content[fread(content, 1, sizeof(content) - 1, file)] = 0;
  fclose(file);
  return strstr(content, text) != NULL;
}

// Null when libmallow has done nothing wrong.
static const char* OurFault(const struct Result* run, const struct Result* clean, const struct Order* order,
                            const struct Files* files) {
  if (run->hung) return "hangs";
  if (strstr(run->fault_at, "libmallow") != NULL) return "a fault in libmallow";
  // While recording, "mallow: ..." may also say that recording has ended for want of memory; that is no error.
  if (run->fault_signal == SIGABRT && Contains(files->errors, "mallow: ")) return "an abort by libmallow";
  if (run->status == clean->status && !SameContent(files->clean, order->output))
    return "other output and no error";
  return NULL;
}

static void Classify(const struct Result* run, const struct Result* clean, const struct Order* order,
                     const struct Files* files, struct Count* count) {
  ++count->runs;
  const char* fault = OurFault(run, clean, order, files);
  if (fault != NULL) {
    ++count->ours;
    fprintf(stderr, "faults: %s: call %d%s refused: %s (status %#x, signal %d in %s)\n", order->command[0],
            order->refuse_at, order->refusals > 1 ? " and those behind it" : "", fault, run->status,
            run->fault_signal, run->fault_at);
  } else if (run->status == clean->status && run->fault_signal == 0) {
    ++count->went_on;
  } else if (run->fault_signal != 0 && run->fault_signal != SIGABRT) {
    ++count->broke;
    fprintf(stderr, "faults: %s: call %d%s refused: signal %d in %s\n", order->command[0], order->refuse_at,
            order->refusals > 1 ? " and those behind it" : "", run->fault_signal, run->fault_at);
  } else {
    ++count->gave_up;
  }
}

int main(int argc, char** argv) {
  if (argc < 7) {
    fprintf(stderr, "usage: faults LIBRARY OPTIONS WORK_FOLDER INPUT SECONDS PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  struct Files files;
  snprintf(files.clean, sizeof(files.clean), "%s/clean", argv[3]);
  snprintf(files.output, sizeof(files.output), "%s/output", argv[3]);
  snprintf(files.errors, sizeof(files.errors), "%s/errors", argv[3]);
  struct Order order = {.library = argv[1],
                        .options = argv[2],
                        .command = argv + 6,
                        .input = argv[4],
                        .output = files.clean,
                        .errors = files.errors,
                        .seconds = atoi(argv[5])};
  const int every = getenv("EVERY") == NULL ? 1 : atoi(getenv("EVERY"));
  const struct Result clean = Run(&order);
  if (clean.calls == 0 || clean.hung || clean.fault_signal != 0) {
    fprintf(stderr, "faults: %s: the clean run makes %d calls and ends with status %#x\n", argv[6],
            clean.calls, clean.status);
    return 2;
  }
  order.output = files.output;
  struct Count count = {0};
  for (order.refusals = 1; order.refusals <= kShortage; order.refusals += kShortage - 1) {
    for (order.refuse_at = 1; order.refuse_at <= kMostCalls; order.refuse_at += every) {
      const struct Result run = Run(&order);
      Classify(&run, &clean, &order, &files, &count);
      if (run.refused == 0) break;
    }
  }
  printf("%d | %d | %d | %d | %d | %d\n", clean.calls, count.runs, count.went_on, count.gave_up, count.broke,
         count.ours);
  return count.ours != 0;
}
