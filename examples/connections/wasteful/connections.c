/* Sessions that fetch from many hosts, each with a cache of its open connections, in the manner of an HTTP client: a
 * table of slots, each slot a list of hosts, each host a list of connections. The servers are played by a function.
 *
 *   cc -O2 -g -o connections connections.c && mallow ./connections */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SESSIONS = 300, REQUESTS = 120, SLOTS = 97, HOSTS = 6, BODY = 6000 };

static void *must(void *block) {
  if (block == NULL) {
    perror("malloc");
    exit(1);
  }
  return block;
}

/* --- lists ---------------------------------------------------------------------------------------------------- */

struct node {
  struct node *next, *previous;
  void *item;
};

struct list {
  struct node *head, *tail;
  size_t size;
};

static struct list *list_new(void) {
  struct list *l = must(malloc(sizeof *l));
  l->head = l->tail = NULL;
  l->size = 0;
  return l;
}

static struct node *list_append(struct list *l, void *item) {
  struct node *n = must(malloc(sizeof *n));
  n->item = item;
  n->next = NULL;
  n->previous = l->tail;
  if (l->tail != NULL) {
    l->tail->next = n;
  } else {
    l->head = n;
  }
  l->tail = n;
  l->size++;
  return n;
}

static void list_remove(struct list *l, struct node *n) {
  if (n->previous != NULL) {
    n->previous->next = n->next;
  } else {
    l->head = n->next;
  }
  if (n->next != NULL) {
    n->next->previous = n->previous;
  } else {
    l->tail = n->previous;
  }
  l->size--;
  free(n);
}

/* --- the cache ------------------------------------------------------------------------------------------------ */

struct host {
  char *key; /* "name:port" */
  struct list *connections;
};

struct connection {
  struct host *host;
  struct node *node; /* in the list of its host */
  int busy, answered;
  uint32_t secret;
};

struct cache {
  struct list *slots[SLOTS]; /* of hosts */
};

static struct cache *cache_new(void) {
  struct cache *c = must(malloc(sizeof *c));
  for (int i = 0; i < SLOTS; i++) c->slots[i] = list_new();  // planted: table
  return c;
}

static char *key_of(const char *name, int port) {
  size_t room = strlen(name) + sizeof ":65535";
  char *key = must(malloc(room));  // planted: temporary
  snprintf(key, room, "%s:%d", name, port);
  return key;
}

static uint32_t hash_of(const char *text) {
  uint32_t hash = 2166136261u;
  for (; *text != '\0'; text++) hash = (hash ^ (unsigned char)*text) * 16777619u;
  return hash;
}

static struct host *cache_find(struct cache *c, const char *name, int port) {
  char *key = key_of(name, port);
  struct host *found = NULL;
  for (struct node *n = c->slots[hash_of(key) % SLOTS]->head; n != NULL && found == NULL; n = n->next) {
    struct host *h = n->item;
    if (strcmp(h->key, key) == 0) found = h;
  }
  free(key);
  return found;
}

static struct host *cache_add(struct cache *c, const char *name, int port) {
  struct host *h = must(malloc(sizeof *h));
  h->key = key_of(name, port);
  h->connections = list_new();
  list_append(c->slots[hash_of(h->key) % SLOTS], h);
  return h;
}

static void connection_close(struct connection *conn) {
  list_remove(conn->host->connections, conn->node);
  free(conn);
}

static void cache_free(struct cache *c) {
  for (int i = 0; i < SLOTS; i++) {
    struct list *slot = c->slots[i];
    while (slot->head != NULL) {
      struct host *h = slot->head->item;
      while (h->connections->head != NULL) connection_close(h->connections->head->item);
      free(h->connections);
      free(h->key);
      list_remove(slot, slot->head);
      free(h);
    }
    free(slot);
  }
  free(c);
}

/* --- requests ------------------------------------------------------------------------------------------------- */

static uint32_t next_random(uint32_t *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return *seed >> 8;
}

/* Agrees with the server on a secret. */
static uint32_t handshake(const char *key, uint32_t nonce) {
  uint32_t secret = nonce;
  for (int round = 0; round < 50; round++)
    secret = (secret << 5 | secret >> 27) ^ hash_of(key) ^ (uint32_t)round;
  return secret;
}

static struct connection *connection_open(struct host *h, uint32_t nonce) {
  struct connection *conn = must(malloc(sizeof *conn));  // planted: pair
  conn->host = h;
  conn->busy = 0;
  conn->answered = 0;
  conn->secret = handshake(h->key, nonce);
  conn->node = list_append(h->connections, conn);  // planted: pair
  return conn;
}

static struct connection *connection_idle(struct host *h) {
  for (struct node *n = h->connections->head; n != NULL; n = n->next) {
    struct connection *conn = n->item;
    if (!conn->busy) return conn;
  }
  return NULL;
}

/* The server's answer, and what the client makes of it. */
static uint32_t transfer(struct connection *conn, uint32_t path) {
  unsigned char body[BODY];
  uint32_t state = conn->secret ^ path, sum = 1;
  for (int i = 0; i < BODY; i++) {
    state = state * 1103515245u + 12345u;
    body[i] = (unsigned char)(state >> 16);
  }
  for (int i = 0; i < BODY; i++) sum = sum * 31 + body[i];
  conn->answered++;
  return sum;
}

static uint32_t request(struct cache *c, uint32_t *seed, int *opened) {
  char name[32];
  uint32_t site = next_random(seed) % HOSTS;
  snprintf(name, sizeof name, "www%u.example", site);

  struct host *h = cache_find(c, name, 443);
  if (h == NULL) h = cache_add(c, name, 443);
  struct connection *conn = connection_idle(h);
  if (conn == NULL) {
    conn = connection_open(h, next_random(seed));
    ++*opened;
  }
  conn->busy = 1;
  uint32_t sum = transfer(conn, next_random(seed));
  conn->busy = 0;
  /* Most servers close after a few answers. */
  if (conn->answered > (int)(site % 3)) connection_close(conn);
  return sum;
}

int main(void) {
  uint32_t seed = 17, checksum = 0;
  int opened = 0;
  for (int session = 0; session < SESSIONS; session++) {
    struct cache *c = cache_new();
    for (int i = 0; i < REQUESTS; i++) checksum = checksum * 31 + request(c, &seed, &opened);
    cache_free(c);
  }
  printf("%d requests over %d connections, checksum %08x\n", SESSIONS * REQUESTS, opened, checksum);
  return 0;
}
