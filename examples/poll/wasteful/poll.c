/* A relay in the manner of a download manager's main loop: it waits until one of a few channels is readable, takes what
 * is there and puts the lines together that arrive in pieces. The channels are pipes, which the program feeds itself.
 *
 *   cc -O2 -g -o poll poll.c && mallow ./poll */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHANNELS = 6, LINES = 1500, CHUNK = 48, LONGEST = 1024 };

/* What the far end of a channel sends: lines of words, in pieces. */
struct sender {
  uint32_t seed;
  int lines_left;
  char line[LONGEST];
  size_t length, sent;
};

struct channel {
  int from, to; /* the two ends of the pipe; -1 when closed */
  struct sender sender;
  char *line; /* what has arrived of a line */
  size_t length;
};

struct relay {
  struct channel channels[CHANNELS];
  uint64_t lines, words, bytes;
  uint32_t checksum;
};

static void die(const char *what) {
  perror(what);
  exit(1);
}

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

/* --- the far ends --------------------------------------------------------------------------------------------- */

static void next_line(struct sender *s) {
  size_t words = 40 + next_random(&s->seed) % 40;
  s->length = s->sent = 0;
  for (size_t i = 0; i < words; i++) {
    size_t letters = 3 + next_random(&s->seed) % 8;
    for (size_t k = 0; k < letters; k++) s->line[s->length++] = (char)('a' + next_random(&s->seed) % 26);
    s->line[s->length++] = i + 1 < words ? ' ' : '\n';
  }
  s->lines_left--;
}

/* Sends the next piece; closes the channel after the last line. */
static void feed(struct channel *c) {
  struct sender *s = &c->sender;
  size_t piece = CHUNK / 2 + next_random(&s->seed) % CHUNK;
  if (c->to < 0) return;
  if (s->sent == s->length) {
    if (s->lines_left == 0) {
      close(c->to);
      c->to = -1;
      return;
    }
    next_line(s);
  }
  if (piece > s->length - s->sent) piece = s->length - s->sent;
  if (write(c->to, s->line + s->sent, piece) != (ssize_t)piece) die("write");
  s->sent += piece;
}

/* --- the relay ------------------------------------------------------------------------------------------------ */

/* Waits until a channel is readable; readable[i] tells of each. */
static void wait_readable(struct relay *r, int readable[CHANNELS]) {
  int open = 0;
  for (int i = 0; i < CHANNELS; i++) open += r->channels[i].from >= 0;

  struct pollfd *set = malloc((size_t)open * sizeof *set);  // planted: temporary
  if (set == NULL) die("malloc");
  int n = 0;
  for (int i = 0; i < CHANNELS; i++) {
    if (r->channels[i].from < 0) continue;
    set[n].fd = r->channels[i].from;
    set[n].events = POLLIN;
    set[n].revents = 0;
    n++;
  }
  if (poll(set, (nfds_t)n, -1) < 0) die("poll");
  n = 0;
  for (int i = 0; i < CHANNELS; i++) {
    readable[i] = 0;
    if (r->channels[i].from >= 0) readable[i] = (set[n++].revents & (POLLIN | POLLHUP)) != 0;
  }
  free(set);
}

/* A line is whole: counts its words and adds them to the checksum. */
static void take_line(struct relay *r, const char *line, size_t length) {
  uint32_t sum = 2166136261u;
  int in_word = 0;
  for (size_t i = 0; i < length; i++) {
    int letter = line[i] != ' ' && line[i] != '\n';
    r->words += (uint64_t)(letter && !in_word);
    in_word = letter;
    sum = (sum ^ (unsigned char)line[i]) * 16777619u;
  }
  r->lines++;
  r->checksum = r->checksum * 31 + sum;
}

static void append(struct channel *c, const char *piece, size_t length) {
  char *longer = realloc(c->line, c->length + length + 1);  // planted: growth
  if (longer == NULL) die("realloc");
  memcpy(longer + c->length, piece, length);
  c->line = longer;
  c->length += length;
  c->line[c->length] = '\0';
}

static void receive(struct relay *r, struct channel *c) {
  char piece[4 * CHUNK];
  ssize_t got = read(c->from, piece, sizeof piece);
  if (got < 0) die("read");
  if (got == 0) {
    close(c->from);
    c->from = -1;
    return;
  }
  r->bytes += (uint64_t)got;
  append(c, piece, (size_t)got);
  if (c->line[c->length - 1] == '\n') {
    take_line(r, c->line, c->length);
    free(c->line);
    c->line = NULL;
    c->length = 0;
  }
}

static void open_channel(struct channel *c, uint32_t seed) {
  int ends[2];
  if (pipe(ends) != 0) die("pipe");
  memset(c, 0, sizeof *c);
  c->from = ends[0];
  c->to = ends[1];
  c->sender.seed = seed;
  c->sender.lines_left = LINES;
}

static int all_closed(const struct relay *r) {
  for (int i = 0; i < CHANNELS; i++) {
    if (r->channels[i].from >= 0) return 0;
  }
  return 1;
}

int main(void) {
  struct relay *r = calloc(1, sizeof *r);
  int readable[CHANNELS];
  if (r == NULL) die("calloc");
  for (uint32_t i = 0; i < CHANNELS; i++) open_channel(&r->channels[i], 7 + i);

  for (unsigned turn = 0; !all_closed(r); turn++) {
    /* Whatever is fed, data or the end, makes a channel readable: the wait never blocks for ever. */
    if (r->channels[turn % CHANNELS].from < 0) continue;
    feed(&r->channels[turn % CHANNELS]);
    wait_readable(r, readable);
    for (int i = 0; i < CHANNELS; i++) {
      if (r->channels[i].from >= 0 && readable[i]) receive(r, &r->channels[i]);
    }
  }
  printf("%llu lines, %llu words, %llu bytes, checksum %08x\n", (unsigned long long)r->lines,
         (unsigned long long)r->words, (unsigned long long)r->bytes, r->checksum);
  free(r);
  return 0;
}
