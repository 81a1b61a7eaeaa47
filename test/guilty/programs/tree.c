// A search tree that is built, walked and taken down by functions that call themselves.
#include <stdio.h>
#include <stdlib.h>

struct node {
  struct node *left, *right;
  unsigned key;
};

static struct node* insert(struct node* node, unsigned key) {
  if (node == NULL) {
    node = malloc(sizeof *node);
    *node = (struct node){NULL, NULL, key};
  } else if (key < node->key) {
    node->left = insert(node->left, key);
  } else if (key > node->key) {
    node->right = insert(node->right, key);
  }
  return node;
}

static int height(const struct node* node) {
  if (node == NULL) return 0;
  // + free(realloc(NULL, 48));
  int left = height(node->left), right = height(node->right);
  return 1 + (left > right ? left : right);
}

static void take_down(struct node* node) {
  if (node == NULL) return;
  take_down(node->left);
  take_down(node->right);
  free(node);
}

int main(void) {
  struct node* root = NULL;
  unsigned seed = 1;
  for (int i = 0; i < 500; i++) root = insert(root, (seed = seed * 1664525u + 1013904223u) >> 8);
  printf("%d\n", height(root));
  take_down(root);
  return 0;
}
